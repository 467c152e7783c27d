extension Scenario {
    /// Reads a scenario from the text of a JSON file; `docs/scenarios.md` describes the format.
    ///
    /// - Throws: ``ScenarioError``, which names the first mistake and its place.
    public init(json: [UInt8]) throws {
        var file = try ScenarioValue(value: JSONReader.value(of: json), path: "").object()
        var reader = ScenarioReader()
        self = try reader.scenario(from: &file)
    }
}
