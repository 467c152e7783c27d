import BeaconModel
import BeaconSupport
import Foundation
import GRDB
import Logging

/// The states that regions had, and the places that beacons were in, when beacond ran last, so that a restart repeats
/// no enter and misses no exit.
struct Presence: Hashable, Sendable {
    /// A region as it was known last.
    struct Region: Hashable, Sendable {
        /// The beacons that belong to it.
        var constraint: BeaconConstraint
        /// The state that was known last.
        var state: RegionState
        /// The source whose receiver kept the region inside, where one did: its silence alone decides after a restart.
        var source: String?
        /// That receiver, where its source has several.
        var holder: String?
        /// When it changed last, by the wall clock, and the receiver that caused it.
        var since: Timestamp?
        var receiver: String?
    }

    /// The regions by label.
    var regions: [String: Region] = [:]
    /// The places that beacons were in.
    var places: [BeaconIdentity: String] = [:]
}

extension GatewayState {
    /// Returns what was known last.
    ///
    /// - Throws: an error where it cannot be read.
    func presence() async throws -> Presence {
        if let former = try await takenOver() { return former }
        // On a disk that cannot be written either, nothing is known where there is no file.
        guard FileManager.default.fileExists(atPath: file.file.path) else { return Presence() }
        let presence = try await read { database in
            var presence = Presence()
            for row in try Row.fetchAll(database, sql: "SELECT * FROM region") {
                guard let constraint = BeaconConstraint(row["beacons"] as String),
                    let state = RegionState(rawValue: row["state"])
                else { continue }
                presence.regions[row["label"]] = Presence.Region(
                    constraint: constraint, state: state, source: row["source"], holder: row["holder"],
                    since: (row["since"] as Int64?).map { Timestamp(nanoseconds: $0) }, receiver: row["receiver"])
            }
            for row in try Row.fetchAll(database, sql: "SELECT * FROM whereabouts") {
                guard let beacon = BeaconConstraint(row["beacon"] as String)?.identity else { continue }
                presence.places[beacon] = row["place"]
            }
            return presence
        }
        savedPresence.withLock { $0 = presence }
        return presence
    }

    /// Takes over what a version before kept, where nothing is known here; nil where there is nothing.
    private func takenOver() async throws -> Presence? {
        do {
            guard let former = try formerPresence.load() else { return nil }
            let isKnown = try await read { try Bool.fetchOne($0, sql: "SELECT EXISTS (SELECT 1 FROM region)") ?? false }
            if !isKnown { try await save(former) }
            try formerPresence.remove()
            return isKnown ? nil : former
        } catch let error as DecodingError {
            logger.error("cannot take over the region states of a version before: \(error)")
            formerPresence.setAside()
            return nil
        }
    }

    /// Writes what is known now. It is called after the notifications of a change are durable: a crash in between
    /// repeats the change, and loses none.
    ///
    /// - Throws: an error where it cannot be written.
    func save(_ presence: Presence) async throws {
        let savedPresence = savedPresence
        try await write { database in
            // What the disk has is written again only where that is not known, as with a file that was begun anew.
            let saved = savedPresence.withLock { $0 }
            if saved == nil { try database.execute(sql: "DELETE FROM region; DELETE FROM whereabouts") }
            for (label, region) in presence.regions where saved?.regions[label] != region {
                try database.execute(
                    sql: """
                        INSERT OR REPLACE INTO region (label, beacons, state, source, holder, since, receiver)
                        VALUES (?, ?, ?, ?, ?, ?, ?)
                        """,
                    arguments: [
                        label, region.constraint.description, region.state.rawValue, region.source, region.holder,
                        region.since?.nanoseconds, region.receiver,
                    ])
            }
            for label in saved?.regions.keys ?? [:].keys where presence.regions[label] == nil {
                try database.execute(sql: "DELETE FROM region WHERE label = ?", arguments: [label])
            }
            for (beacon, place) in presence.places where saved?.places[beacon] != place {
                try database.execute(
                    sql: "INSERT OR REPLACE INTO whereabouts (beacon, place) VALUES (?, ?)",
                    arguments: [beacon.description, place])
            }
            for beacon in saved?.places.keys ?? [:].keys where presence.places[beacon] == nil {
                try database.execute(
                    sql: "DELETE FROM whereabouts WHERE beacon = ?", arguments: [beacon.description])
            }
        }
        savedPresence.withLock { $0 = presence }
    }
}

/// The file of JSON in which versions before 2026-11-23 kept the presence.
struct PresenceFile: Sendable {
    private struct Entry: Codable {
        var region: String
        var state: UInt8
        var source: String?
        var since: Double?
        var receiver: String?
    }

    private struct Form: Codable {
        var regions: [String: Entry]
        var places: [String: String]?
    }

    private let file: URL

    /// The file beside an outbox.
    init(besideOutbox path: String) { file = URL(fileURLWithPath: path).appendingPathExtension("presence.json") }

    /// Returns what it has; nil where there is none.
    ///
    /// - Throws: an error where the file cannot be read, or holds something else.
    func load() throws -> Presence? {
        guard FileManager.default.fileExists(atPath: file.path) else { return nil }
        let form = try JSONDecoder().decode(Form.self, from: Data(contentsOf: file))
        var presence = Presence()
        for (beacon, place) in form.places ?? [:] {
            if let identity = BeaconConstraint(beacon)?.identity { presence.places[identity] = place }
        }
        presence.regions = form.regions.compactMapValues { entry in
            guard let constraint = BeaconConstraint(entry.region), let state = RegionState(rawValue: entry.state) else {
                return nil
            }
            return Presence.Region(
                constraint: constraint, state: state, source: entry.source,
                since: entry.since.flatMap { Timestamp(seconds: $0) }, receiver: entry.receiver)
        }
        return presence
    }

    /// Removes it.
    func remove() throws { try FileManager.default.removeItem(at: file) }

    /// Gives it another name, where it cannot be read.
    func setAside() {
        let aside = file.appendingPathExtension("damaged")
        try? FileManager.default.removeItem(at: aside)
        try? FileManager.default.moveItem(at: file, to: aside)
    }
}
