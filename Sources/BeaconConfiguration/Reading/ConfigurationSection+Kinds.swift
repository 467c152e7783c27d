package import BeaconDelivery
package import BeaconModel
import BeaconPrograms
import BeaconSupport
package import Foundation
import Yams

extension ConfigurationSection {
    /// Returns the name of something that other parts of the file refer to.
    package func name(_ what: String, known: inout Set<String>) -> String? {
        guard let name = text("name", "write a name") else {
            reportMissing("name", "give the \(what) a name, by which messages and other parts of the file call it")
            return nil
        }
        guard !name.value.isEmpty, name.value.count <= 100, name.value.allSatisfy({ !$0.isNewline }) else {
            report(name.origin, "\"name\" is \"\(name.value)\"; write a name of 1 to 100 characters on one line")
            return nil
        }
        guard known.insert(name.value).inserted else {
            report(name.origin, "there is a \(what) named \"\(name.value)\" already; give this one another name")
            return nil
        }
        return name.value
    }

    /// Returns `uuid`, `major` and `minor` as a constraint.
    package func constraint() -> BeaconConstraint? {
        let uuid = uuid("uuid")
        let major = integer("major", 0...65535)
        let minor = integer("minor", 0...65535)
        guard has("uuid") else {
            reportMissing("uuid", "give the UUID that the beacons send, as \"beacon scan\" shows it")
            return nil
        }
        if let minor, !has("major") {
            report(minor.origin, "\"minor\" needs a \"major\": a minor value means nothing without its major value")
            return nil
        }
        guard let uuid = uuid?.value else { return nil }
        guard let major = major?.value else { return BeaconConstraint(uuid: uuid) }
        guard let minor = minor?.value else { return BeaconConstraint(uuid: uuid, major: UInt16(major)) }
        return BeaconConstraint(uuid: uuid, major: UInt16(major), minor: UInt16(minor))
    }

    /// Returns names of regions that have to be defined; nil where none are given, which means all.
    package func regionNames(_ key: String, defined: Set<String>) -> Set<String>? {
        names(key, of: "region", defined: defined)
    }

    /// Returns names of places that have to be defined; nil where none are given, which means all.
    package func placeNames(_ key: String, defined: Set<String>) -> Set<String>? {
        names(key, of: "place", defined: defined)
    }

    /// Returns names of destinations that have to be defined; nil where none are given.
    package func destinationNames(_ key: String, defined: Set<String>) -> [String]? {
        names(key, of: "destination", defined: defined)?.sorted()
    }

    /// The most texts of a mapping, and the longest of their keys and values, in characters.
    private static let mostTexts = 32
    private static let longestText = 200

    /// Returns the texts of a mapping by their keys; none where there is none.
    package func textsByKey(_ key: String, _ what: String) -> [String: String] {
        guard let node = node(key) else { return [:] }
        guard case .mapping(let mapping) = node, mapping.count <= Self.mostTexts else {
            report(.file(node.location), "\"\(key)\" is \(node.summary); \(what), at most \(Self.mostTexts)")
            return [:]
        }
        var texts: [String: String] = [:]
        for (name, value) in mapping {
            guard let name = name.scalar?.string, let text = value.scalar?.string, !name.isEmpty,
                max(name.count, text.count) <= Self.longestText
            else {
                report(
                    .file(value.location),
                    "\"\(key)\" has \(value.summary); \(what), of at most \(Self.longestText) characters")
                continue
            }
            texts[name] = text
        }
        return texts
    }

    /// Returns names of something that have to be defined; nil where none are given.
    package func names(_ key: String, of what: String, defined: Set<String>) -> Set<String>? {
        guard let names = texts(key, "write names of \(what)s") else { return nil }
        for name in names where !defined.contains(name.value) {
            var message = "\"\(key)\" has \"\(name.value)\", and there is no \(what) of this name"
            if let nearest = SpellingSuggestion.to(name.value, among: defined.sorted()) {
                message += "; was \"\(nearest)\" meant?"
            } else if !defined.isEmpty {
                let names = defined.sorted()
                message += "; there are \(names.prefix(20).joined(separator: ", "))\(names.count > 20 ? ", …" : "")"
            }
            report(name.origin, message)
        }
        return Set(names.map(\.value))
    }

    /// Returns an absolute path: a relative one is resolved against the configuration's folder, and `~` against home.
    package func filePath(_ key: String) -> Located<String>? {
        guard let text = text(key, "write the path of a file") else { return nil }
        return Located(absolute(text.value), text.origin)
    }

    /// Returns an `http` or `https` address with a host. One that is a secret in itself is given as secrets are.
    package func url(_ key: String) -> URL? {
        let what = "write an address such as https://example.com/beacons"
        if case .mapping(let mapping)? = node(key), reading.override(of: path + [key]) == nil {
            guard let secret = secret(key), !secret.isEmpty else { return nil }
            guard let url = Self.webAddress(secret.reveal()) else {
                report(
                    .file(mapping.mark.map(SourceLocation.init) ?? SourceLocation(line: 1, column: 1)),
                    "what \"\(key)\" gives is no address; \(what)")
                return nil
            }
            return url
        }
        guard let text = text(key, what) else { return nil }
        guard let url = Self.webAddress(text.value) else {
            report(text.origin, "\"\(key)\" is \"\(text.value.shownAddress)\"; \(what)")
            return nil
        }
        if url.password != nil, case .file = text.origin {
            report(
                text.origin,
                "\"\(key)\" has a password in it; write { env: NAME } or { file: PATH } to say where the address is")
            return nil
        }
        return url
    }

    private static func webAddress(_ text: String) -> URL? {
        guard let url = URL(string: text), let host = url.host, !host.isEmpty,
            ["http", "https"].contains(url.scheme?.lowercased())
        else { return nil }
        return url
    }

    /// Returns a secret from the environment or a file: `{ env: NAME }` or `{ file: PATH }`.
    ///
    /// One that is missing here may be there on the machine that the configuration is for. The daemon does not start
    /// without it.
    package func secret(_ key: String) -> Secret? {
        let node = node(key)
        if let override = reading.override(of: path + [key]) {
            return filled(Secret(override.value), key, override.origin, "the environment")
        }
        guard let node else { return nil }
        let variable = (path + [key]).joined(separator: "_").uppercased().replacing("-", with: "_")
        guard case .mapping = node else {
            report(
                .file(node.location),
                "\"\(key)\" is written here for all to read; write { env: NAME } or { file: PATH } to say where it is, or set "
                    + "\(ConfigurationReading.prefix)_\(variable) in the environment")
            return nil
        }
        let section = ConfigurationSection(node, at: path + [key], in: reading)
        let name = section.text("env", "write the name of a variable of the environment")
        let file = section.filePath("file")
        section.finish()
        switch (name, file) {
        case (let name?, nil):
            if let text = reading.variable(name.value) {
                return filled(Secret(text), key, name.origin, reading.place(of: name.value))
            }
            report(
                name.origin,
                "\"\(key)\" is to come from \(name.value), which the environment does not have here"
                    + reading.remedy(for: name.value))
            return nil
        case (nil, let file?):
            if let text = try? String(contentsOfFile: file.value, encoding: .utf8) {
                // Editors end a file with a line's end, which nobody means.
                return filled(Secret(text.trimmingCharacters(in: .newlines)), key, file.origin, file.value)
            }
            report(file.origin, "\"\(key)\" is to come from \(file.value), which cannot be read here")
            return nil
        default:
            report(.file(node.location), "\"\(key)\" needs either \"env\" or \"file\" to say where it is")
            return nil
        }
    }

    /// Returns a secret that is not empty.
    ///
    /// - Parameter place: where it came from, for people.
    private func filled(_ secret: Secret, _ key: String, _ origin: Diagnostic.Origin, _ place: String) -> Secret? {
        guard secret.isEmpty else { return secret }
        report(origin, "\"\(key)\" comes from \(place), where it is empty; write the secret there")
        return nil
    }

    /// Reports secrets that are sent to another machine without encryption.
    package func warnOfSecretsInTheOpen(to url: URL) {
        guard url.scheme?.lowercased() == "http" else { return }
        warnOfSecretsInTheOpen(to: url.host ?? "", "write an address with https://")
    }

    /// Reports secrets that are sent to a host without encryption, if it is another machine, with what to write
    /// instead.
    package func warnOfSecretsInTheOpen(to host: String, _ remedy: String) {
        let host = host.lowercased()
        guard !["localhost", "::1", "[::1]"].contains(host), !host.hasPrefix("127.") else { return }
        reading.report(
            origin,
            "\(subject)secrets are sent to another machine without encryption, where others can read them; \(remedy)",
            severity: .warning)
    }

    /// Returns the path of a file, which has to be readable here.
    package func existingFile(_ key: String) -> String? {
        guard let path = filePath(key) else { return nil }
        if !FileManager.default.isReadableFile(atPath: path.value) {
            report(path.origin, "\"\(key)\": \(path.value) cannot be read here")
        }
        return path.value
    }

    private func absolute(_ path: String) -> String {
        let expanded = NSString(string: path).expandingTildeInPath
        guard !expanded.hasPrefix("/") else { return expanded }
        return reading.folder.appendingPathComponent(expanded).standardizedFileURL.path
    }
}

extension ConfigurationSection {
    /// Returns a program and its arguments: a list, or one line whose words are separated by spaces.
    package func words(_ key: String) -> [String]? {
        guard case .scalar? = node(key) else {
            let words = texts(key, "write the program and its arguments")?.map(\.value)
            if words?.isEmpty == true { report(origin, "\"\(key)\" is empty; write the program and its arguments") }
            return words?.isEmpty == true ? nil : words
        }
        guard let line = text(key) else { return nil }
        do throws(CommandWords.Failure) {
            return try CommandWords.split(line.value)
        } catch {
            report(
                line.origin, error == .empty ? "\"\(key)\" is empty" : "in \"\(key)\", a quote has no end")
            return nil
        }
    }
}
