import BeaconConfiguration

/// The people whose events count for a rule.
public struct RuleAudience: Hashable, Sendable {
    /// The users, as apps name them; nil for all.
    public var users: Set<String>?
    /// The installs of apps, by their identifiers; nil for all.
    public var installs: Set<String>?
    /// The attributes that users must have, each with its value.
    public var attributes: [String: String] = [:]
    /// The beacons of which the person was near one before the event; nil for no condition.
    public var was: RuleEncounter?
    /// The beacons of which the person was near none before the event; nil for no condition.
    public var wasNot: RuleEncounter?

    /// Creates an audience of all users and installs.
    public init() {}

    /// Returns true if a person belongs to the audience. Its past is not checked.
    ///
    /// - Parameters:
    ///   - user: the user, if the app named one.
    ///   - install: the install; nil for events of this machine's receivers, which do not know who carries a beacon.
    ///   - attributes: the user's attributes.
    func contains(user: String?, install: String?, attributes: [String: String]) -> Bool {
        guard let install else { return false }
        if let users, !(user.map(users.contains) ?? false) { return false }
        if let installs, !installs.contains(install) { return false }
        return self.attributes.allSatisfy { attributes[$0.key] == $0.value }
    }
}

extension RuleAudience {
    /// The keys of an audience.
    static let grammar = Grammar<Self>(
        RuleAudience(),
        [
            Setting("users", \.users, .texts("write names of users, as apps give them"), "Users, as apps name them."),
            Setting(
                "installs", \.installs, .texts("write identifiers of installs, as the console lists them"),
                "Identifiers of installs; the console lists them under People."),
            Setting(
                "attributes", \.attributes, .pairs("write attributes and their values, such as { plan: gold }"),
                title: "Attributes of users",
                "The attributes that users need, such as `{ plan: gold }`."),
            Setting(
                "was", \.was, .mappingIfGiven(RuleEncounter.past),
                "Only people who were near one of these beacons before."),
            Setting(
                "was-not", \.wasNot, .mappingIfGiven(RuleEncounter.past),
                "Only people who were near none of these beacons before."),
        ])
}
