/// An object of a scenario file, from which keys are taken one by one, so that those left over can be told.
struct ScenarioObject {
    /// Where the object is, as in `beacons[2]`; empty for the whole file.
    let path: String

    private var members: [String: JSONValue]
    private var keys: [String] = []

    init(path: String, members: [String: JSONValue]) {
        self.path = path
        self.members = members
    }

    /// The place of a member.
    func path(of key: String) -> String { path.isEmpty ? key : "\(path).\(key)" }

    /// Takes a member, or nil where the key is not there.
    mutating func take(_ key: String) -> ScenarioValue? {
        keys.append(key)
        return members.removeValue(forKey: key).map { ScenarioValue(value: $0, path: path(of: key)) }
    }

    /// Takes a member that has no default.
    ///
    /// - Parameter meaning: what to write, for the error.
    mutating func require(_ key: String, _ meaning: String) throws -> ScenarioValue {
        guard let value = take(key) else {
            throw ScenarioError(.missingKey, at: path(of: key), "is missing; write \(meaning)")
        }
        return value
    }

    /// Ends the reading of this object.
    ///
    /// - Throws: ``ScenarioError`` where keys are left that nobody took.
    func finish() throws {
        // In alphabetical order, so that the same file gives the same error.
        guard let unknown = members.keys.sorted().first else { return }
        throw ScenarioError(
            .unknownKey, at: path(of: unknown),
            "is not a key of the format; the keys here are \(keys.joined(separator: ", "))")
    }
}
