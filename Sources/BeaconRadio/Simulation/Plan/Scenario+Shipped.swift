extension Scenario {
    private static let shipped: [(name: String, json: [UInt8])] = [
        ("department-store", PackageResources.department_store_json),
        ("museum", PackageResources.museum_json),
        ("point-of-sale", PackageResources.point_of_sale_json),
    ]

    /// The names of the scenarios that ship with the package, in alphabetical order.
    public static var names: [String] { shipped.map(\.name) }

    /// A scenario that ships with the package.
    ///
    /// - Throws: ``ScenarioError`` of ``ScenarioError/Code/unknownScenario`` where none has this name.
    public init(named name: String) throws {
        guard let found = Self.shipped.first(where: { $0.name == name }) else {
            throw ScenarioError(
                .unknownScenario, at: "",
                "\"\(name)\" does not ship with the package; choose one of \(Self.names.joined(separator: ", ")), "
                    + "or give the path of a file")
        }
        try self.init(json: found.json)
    }
}
