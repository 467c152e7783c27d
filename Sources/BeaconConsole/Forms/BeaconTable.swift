import BeaconDelivery
import BeaconGateway
import BeaconModel
import BeaconSupport
import Foundation
import HTTPTypes

/// Named beacons as a table (CSV, RFC 4180).
///
/// Its columns are `name,uuid,major,minor,place`, `tracker` if some beacons are trackers, and one column for each
/// attribute.
enum BeaconTable {
    /// The size limit of a table in bytes, and the largest number of its beacons.
    static let largest = 1 << 20
    private static let maximumRows = 10_000

    private static let columns = ["name", "uuid", "major", "minor", "place"]
    private static let trackerColumn = "tracker"

    /// The changes that a table made.
    struct Counts: Codable, Hashable, Sendable {
        var added = 0
        var changed = 0
        var removed = 0
        var unchanged = 0
    }

    // MARK: - Writing

    /// Returns beacons as a table.
    static func text(_ beacons: [BeaconSettings]) -> String {
        let attributes = Set(beacons.flatMap(\.attributes.keys)).sorted()
        let hasTrackers = beacons.contains(where: \.isTracker)
        let tracker = hasTrackers ? [trackerColumn] : []
        var lines = [(columns + tracker + attributes).map(field).joined(separator: ",")]
        for beacon in beacons {
            let fields =
                [
                    beacon.name, beacon.identity.uuid.description, "\(beacon.identity.major)",
                    "\(beacon.identity.minor)", beacon.place ?? "",
                ] + (hasTrackers ? [beacon.isTracker ? "true" : ""] : [])
                + attributes.map { beacon.attributes[$0] ?? "" }
            lines.append(fields.map(field).joined(separator: ","))
        }
        return lines.map { $0 + "\r\n" }.joined()
    }

    /// Returns text as a field of a table, escaped so that spreadsheets do not read a formula.
    static func field(_ text: String) -> String {
        guard let first = text.unicodeScalars.first else { return "" }
        let safe = "=+-@\t\r".unicodeScalars.contains(first) ? "'" + text : text
        // Scalar by scalar, since CR LF is a single character.
        guard safe.unicodeScalars.contains(where: { ",\"\n\r".unicodeScalars.contains($0) }) else { return safe }
        return "\"" + safe.replacingOccurrences(of: "\"", with: "\"\"") + "\""
    }

    // MARK: - Reading

    /// Returns the changes that make the console's beacons those of a table. Beacons of the file stay unchanged.
    ///
    /// - Parameters:
    ///   - data: the table.
    ///   - configuration: the configuration with the current beacons.
    ///   - replaces: true to remove the console's beacons that are not in the table.
    /// - Throws: ``Problem``, which names the faulty lines.
    static func change(
        _ data: Data, in configuration: GatewayConfiguration, replaces: Bool
    ) throws -> (changes: [ItemChange], counts: Counts) {
        let rows = try rows(data)
        let before = configuration.items.filter { $0.kind == .beacon }
        let known = Dictionary(before.map { ($0.name, $0) }) { first, _ in first }
        let used = Dictionary(configuration.beacons.map { ($0.name, $0) }) { first, _ in first }
        var (changes, counts) = ([ItemChange](), Counts())
        var seen: Set<String> = []
        var faults: [Problem.Fault] = []
        for (line, values) in rows {
            let item = item(values)
            let isName = !item.name.unicodeScalars.contains { $0.properties.generalCategory == .control }
            guard isName, !ItemChanges.reserved.contains(item.name) else {
                faults.append(.init(key: "line \(line)", detail: "\"\(item.name.printable)\" is not a valid name"))
                continue
            }
            guard seen.insert(item.name).inserted else {
                faults.append(.init(key: "line \(line)", detail: "\"\(item.name)\" appears twice"))
                continue
            }
            if let beacon = used[item.name], item.value == .beacon(beacon) {
                counts.unchanged += 1
                continue
            }
            if let fault = item.fault {
                faults.append(.init(key: "line \(line)", detail: fault))
                continue
            }
            switch known[item.name] {
            case let known? where known.origin == .file:
                faults.append(
                    .init(
                        key: "line \(line)",
                        detail: "\"\(item.name)\" is in the file, with other values; change it there"))
            case .some:
                counts.changed += 1
                changes.append(.replace(item.name, by: item))
            case nil:
                counts.added += 1
                changes.append(.add(item))
            }
        }
        if replaces {
            let removed = before.filter { $0.origin == .console && !seen.contains($0.name) }
            counts.removed = removed.count
            changes = removed.map { .remove(.beacon, $0.name) } + changes
        }
        guard faults.isEmpty else {
            throw Problem(
                .unprocessableContent, "\(faults.count) lines of the table have faults; nothing was changed",
                errors: Array(faults.prefix(100)))
        }
        return (changes, counts)
    }

    private static func item(_ values: [String: String]) -> ConfigurationItem {
        var settings: [String: JSONValue] = [:]
        for key in ["name", "uuid", "place"] {
            if let text = values[key], !text.isEmpty { settings[key] = .string(text) }
        }
        for key in ["major", "minor"] {
            guard let text = values[key], !text.isEmpty else { continue }
            settings[key] = Int64(text).map { .integer($0) } ?? .string(text)
        }
        if let text = values[trackerColumn]?.lowercased(), !text.isEmpty {
            settings[trackerColumn] = ["true": .bool(true), "false": .bool(false)][text] ?? .string(text)
        }
        let known = columns + [trackerColumn]
        let attributes = values.filter { !known.contains($0.key) && !$0.value.isEmpty }
        if !attributes.isEmpty { settings["attributes"] = .object(attributes.mapValues { .string($0) }) }
        return ConfigurationItem(
            kind: .beacon, name: values["name"] ?? "", settings: .object(settings), origin: .console)
    }

    /// Returns a table's rows by column, with the line on which each begins.
    private static func rows(_ data: Data) throws -> [(line: Int, values: [String: String])] {
        let bytes = Array(data)
        guard String(validating: bytes, as: UTF8.self) != nil else {
            throw Problem(.unprocessableContent, "the table is not UTF-8 text")
        }
        var records: [CSVReader.Record]
        do throws(CSVReader.UnclosedQuote) {
            records = try CSVReader.records(of: bytes, separator: CSVReader.separator(of: bytes))
        } catch {
            throw Problem(
                .unprocessableContent, "a quoted field on line \(error.line) does not end",
                key: "line \(error.line)", "has a quoted field that does not end")
        }
        guard !records.isEmpty else { throw Problem(.unprocessableContent, "the table is empty") }
        // Spreadsheets and people capitalize headings. Attributes keep their case.
        let header = records.removeFirst().fields.map { field in
            let heading = field.trimmingCharacters(in: .whitespaces)
            return (columns + [trackerColumn]).first { $0 == heading.lowercased() } ?? heading
        }
        for column in columns.dropLast() where !header.contains(column) {
            throw Problem(
                .unprocessableContent,
                "the first line has no column \"\(column)\"; write for example \(columns.joined(separator: ","))",
                key: "line 1", "has no column \"\(column)\"")
        }
        guard Set(header).count == header.count else {
            throw Problem(
                .unprocessableContent, "the first line has the same column twice",
                key: "line 1", "has the same column twice")
        }
        guard records.count <= maximumRows else {
            throw Problem(.unprocessableContent, "the table has \(records.count) beacons; the limit is \(maximumRows)")
        }
        return try records.map { record in
            guard record.fields.count == header.count else {
                let what = "has \(record.fields.count) fields; the table has \(header.count) columns"
                throw Problem(
                    .unprocessableContent, "line \(record.line) \(what)", key: "line \(record.line)", what)
            }
            let values = zip(header, record.fields).map { ($0, unguarded($1)) }
            return (record.line, Dictionary(values) { first, _ in first })
        }
    }

    /// Returns text without the apostrophe that protects it in spreadsheets.
    private static func unguarded(_ text: String) -> String {
        let trimmed = text.trimmingCharacters(in: .whitespaces)
        guard trimmed.hasPrefix("'"), let second = trimmed.dropFirst().unicodeScalars.first,
            "=+-@".unicodeScalars.contains(second)
        else { return trimmed }
        return String(trimmed.dropFirst())
    }
}
