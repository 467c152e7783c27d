import BeaconSimulation

/// Scenarios by name: the files of a folder, and those that ship with the product.
struct ScenarioLibrary: Sendable {
    /// The folder with the files NAME.json.
    var folder: String

    /// Returns the scenario with this name.
    func scenario(named name: String) throws -> Scenario {
        guard !name.contains("/") else { throw SocketError("a scenario's name must not contain \"/\"") }
        if let json = try SystemFile.bytes(of: "\(folder)/\(name).json") { return try Scenario(json: json) }
        return try Scenario(named: name)
    }
}
