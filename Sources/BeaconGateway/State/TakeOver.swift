import BeaconConfiguration
import BeaconDelivery
import BeaconMonitoring
package import BeaconSupport
import Foundation

/// The move of items from the configuration file to the console. Phones and watches stay in the file.
///
/// Their settings are those of the file, so a reference to a secret stays a reference. All other lines of the file
/// stay.
package struct TakeOver: Sendable {
    /// The items, as the console's.
    package let items: [ConfigurationItem]
    /// The configuration file.
    package let path: String
    private let bytes: [UInt8]
    private let text: String
    /// The secrets that the rest of the file uses.
    private let usedSecrets: [String: [String]]

    /// The largest file, in bytes.
    private static let largestFile = 1 << 20
    private static let mark: [UInt8] = [0xEF, 0xBB, 0xBF]

    /// Reads the file, and checks that it stays valid without the items.
    ///
    /// - Parameters:
    ///   - kind: the kind of the items.
    ///   - name: the name of one item; nil for all of the kind.
    ///   - base: the configuration of the file in use.
    ///   - receivers: the names of the receivers of each source.
    /// - Throws: ``ItemChange/Failure``.
    package init(
        _ kind: ConfigurationItem.Kind, _ name: String?, in base: GatewayConfiguration,
        receivers: [String: [String]] = [:]
    ) throws {
        let known = base.items.filter {
            $0.kind == kind && $0.origin == .file && (name == nil || $0.name == name) && !$0.isTag
        }
        guard !known.isEmpty, let path = base.path else {
            throw ItemChange.Failure(
                code: .unknown, description: "the file has no \(kind.rawValue)\(name.map { " named \"\($0)\"" } ?? "")")
        }
        do {
            bytes = try SmallFile.contents(path: path, limit: Self.largestFile)
        } catch {
            throw ItemChange.Failure(code: .taken, description: error.message)
        }
        let before = String(
            decoding: bytes.starts(with: Self.mark) ? bytes[Self.mark.count...] : bytes[...], as: UTF8.self)
        let list = Self.list(of: kind)
        let given = ConfigurationItem.numbered(kind, in: YAMLDocument(before).content, list)
        var numbers: Set<Int> = []
        for item in known {
            guard let same = given.first(where: { $0.item == item }) else {
                throw ItemChange.Failure(
                    code: .taken,
                    description:
                        "\(path) has changed since beacond read it, and has another \(kind.rawValue) \"\(item.name)\" now; let beacond read it again (systemctl reload beacond), and then try again"
                )
            }
            numbers.insert(same.number)
        }
        self.path = path
        items = try known.map { item in
            var settings = item.settings
            // An unquoted number in the file is a name, too.
            if case .object(var values) = settings {
                values["name"] = .string(item.name)
                // A radio of one word has the name of its adapter. With keys, it would have the name of the source.
                let source = kind == .source ? base.sources.first { $0.name == item.name } : nil
                if let source, source.receiver == nil, source.specification.canSend,
                    let names = receivers[item.name], let only = names.first
                {
                    guard names.count == 1 else {
                        throw ItemChange.Failure(
                            code: .taken,
                            description:
                                "\"\(item.name)\" has the receivers \(names.joined(separator: ", ")); write a source for each into the file first, such as hci:hci0"
                        )
                    }
                    values["receiver"] = .string(only)
                }
                settings = .object(values)
            }
            return ConfigurationItem(kind: kind, name: item.name, settings: settings, origin: .console)
        }
        do {
            // "places: []" would be a plan without places.
            text = try YAMLDocument.removing(numbers, of: list, dropsEmpty: kind == .place, from: before)
        } catch {
            throw ItemChange.Failure(code: .taken, description: "cannot take it out of \(path): \(error)")
        }
        let checked = GatewayConfiguration.check(text, asFile: path, environment: base.secretSources.environment)
        usedSecrets = checked.configuration.usedSecrets
        if let fault = checked.diagnostics.first(where: { $0.severity == .error }) {
            throw ItemChange.Failure(
                code: .taken,
                description:
                    "without it, \(path) would not be valid: \(fault.message). Take over or change what refers to it first"
            )
        }
    }

    /// Returns a configuration without the items of the file.
    package func rest(of configuration: GatewayConfiguration) -> GatewayConfiguration {
        let keys = Set(items.map(\.key))
        func isTaken(_ kind: ConfigurationItem.Kind, _ name: String) -> Bool {
            keys.contains(ConfigurationItem.Key(kind: kind, name: name))
        }
        var rest = configuration
        rest.beacons.removeAll { isTaken(.beacon, $0.name) }
        rest.regions.removeAll { isTaken(.region, $0.name) }
        rest.places?.places.removeAll { isTaken(.place, $0.name) }
        if let places = rest.places, places.places.isEmpty, places.taught == nil { rest.places = nil }
        rest.sources.removeAll { isTaken(.source, $0.name) }
        rest.destinations.removeAll { isTaken(.destination, $0.name) }
        rest.launch.rules.removeAll { isTaken(.rule, $0.name) }
        rest.usedSecrets = usedSecrets
        rest.items.removeAll { $0.origin == .file && keys.contains($0.key) }
        return rest
    }

    /// Keeps a copy of the file, and writes the file without the items.
    ///
    /// - Parameter stateFolder: the folder for the copy if the file's folder is not writable.
    /// - Returns: the path of the copy.
    /// - Throws: ``StateError`` if beacond may not write the file, with the remedy.
    package func write(stateFolder: String) throws(StateError) -> String {
        let target = AtomicFile.target(of: path)
        let new = (bytes.starts(with: Self.mark) ? Self.mark : []) + Array(text.utf8)
        if access(target, W_OK) != 0 { throw refusal(String(cString: strerror(errno))) }
        guard AtomicFile.unusedCopy(of: target) != nil else { throw tooManyCopies(of: target) }
        do {
            let copy = try keep(beside: target, access: .configuration)
            try AtomicFile.replace(path, with: new, access: .configuration)
            return copy
        } catch {
            // A folder that only root may write, or a file that is mounted by itself.
            let name = URL(fileURLWithPath: target).lastPathComponent
            let copy = try keep(beside: "\(stateFolder)/\(name)", access: .state)
            do {
                try OverwrittenFile.replace(target, with: new)
            } catch {
                throw refusal(error.message)
            }
            return copy
        }
    }

    private func keep(beside path: String, access: FileAccess) throws(StateError) -> String {
        guard let copy = AtomicFile.unusedCopy(of: path) else { throw tooManyCopies(of: path) }
        try AtomicFile.replace(copy, with: bytes, access: access, like: AtomicFile.target(of: self.path), isNew: true)
        return copy
    }

    private func tooManyCopies(of path: String) -> StateError {
        StateError(.cannotWrite, "\(path) has 100 old copies already (\(path).old to .old99); remove some of them")
    }

    private func refusal(_ cause: String) -> StateError {
        StateError(
            .cannotWrite,
            "beacond may not change \(path): \(cause). To allow it, give the file to beacond's user (sudo chown beacond \(path)); for the system's service, also write ReadWritePaths=\(path) under [Service] with \"sudo systemctl edit beacond\", and restart it; in a container, mount the file for writing. Or remove the item from the file, let beacond read it again, and add the item here"
        )
    }

    private static func list(of kind: ConfigurationItem.Kind) -> [String] {
        switch kind {
        case .beacon: ["beacons"]
        case .region: ["regions"]
        case .place: ["places"]
        case .taught: []
        case .source: ["sources"]
        case .destination: ["destinations"]
        case .rule: ["launch", "rules"]
        }
    }
}

extension ConfigurationItem {
    /// Returns the items of a list in a file's content, with their numbers.
    fileprivate static func numbered(
        _ kind: Kind, in content: JSONValue?, _ list: [String]
    ) -> [(number: Int, item: ConfigurationItem)] {
        let value = list.reduce(content) { value, key in
            if case .object(let values)? = value { values[key] } else { nil }
        }
        guard case .array(let items)? = value else { return ofFile(kind, value).map { (0, $0) } }
        return items.enumerated().flatMap { number, settings in
            ofFile(kind, .array([settings])).map { (number, $0) }
        }
    }
}
