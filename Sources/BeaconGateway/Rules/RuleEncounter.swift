import BeaconConfiguration
package import BeaconModel
import BeaconSupport

/// A condition of a rule about nearness before or after its event: a person was near one of some beacons, or comes near
/// one of them.
public struct RuleEncounter: Hashable, Sendable, Codable {
    /// The regions whose beacons count; nil for all.
    public var regions: Set<String>?

    /// The beacons that count; nil for all of the regions.
    package var beacons: Set<BeaconIdentity>?

    /// The proximity that the person must at least have had.
    package var proximity: Proximity {
        get { Proximity(rawValue: level) ?? .near }
        set { level = newValue.rawValue }
    }
    private var level = Proximity.near.rawValue

    /// The time before the event, or after it.
    public var within: Duration

    /// Creates a condition on all beacons.
    package init(within: Duration) { self.within = within }

    /// Returns true if a beacon is one of the condition's beacons.
    func concerns(_ beacon: BeaconIdentity, of regions: Set<String>) -> Bool {
        Rule.concerns(beacon, of: regions, beacons, self.regions)
    }

    /// Returns the condition with the new names of regions.
    func renaming(_ renamed: [String: String]) -> RuleEncounter {
        var encounter = self
        encounter.regions = regions.map { Set($0.map { renamed[$0] ?? $0 }) }
        return encounter
    }
}

extension RuleEncounter {
    /// The longest time for which a run is held back.
    package static let longestHold = Duration.seconds(7 * 86_400)

    /// The keys of a condition on the time before an event. The history must still have the time.
    static let past = grammar("such as 7d", longest: .seconds(3660 * 86_400)) { section, encounter in
        guard let age = section.reading.context.historyAge, encounter.within > age else { return }
        section.report(
            section.origin(of: "within"),
            "\"within\" is \(DurationText.text(encounter.within)), but the history keeps events for "
                + "\(DurationText.text(age)); write a shorter time, or a longer \"history-age\" under \"web\"")
    }

    /// The keys of a condition on the time after an event.
    static let future = grammar("such as 10m", longest: longestHold)

    private static func reportEmpty(_ key: String, _ section: ConfigurationSection) {
        section.report(
            section.origin(of: key), "\"\(key)\" is empty, so that no beacon counts; write a name, or leave it out")
    }

    private static func grammar(
        _ example: String, longest: Duration,
        check: @escaping @Sendable (ConfigurationSection, RuleEncounter) -> Void = { _, _ in }
    ) -> Grammar<Self> {
        Grammar(
            RuleEncounter(within: .zero),
            [
                Setting(
                    "beacons", .list(.text()), "The named beacons of which one is enough.",
                    default: { _ in "all of the regions" }
                ) { section, encounter in
                    guard let names = section.read("beacons", .names(of: "beacon")) else { return false }
                    if names.isEmpty { reportEmpty("beacons", section) }
                    encounter.beacons = Set(
                        section.reading.context.beacons.filter { names.contains($0.value) }.map(\.key))
                    return true
                },
                Setting(
                    "regions", \.regions, .names(of: "region"), default: "all",
                    "The regions of which one beacon is enough."),
                Setting(
                    "proximity", \.proximity,
                    .word([("immediate", .immediate), ("near", .near), ("far", .far)]), "How near at least."),
                Setting(
                    "within", \.within, .duration(.seconds(1)...longest), required: "write the time, \(example)",
                    "The time, \(example)."),
            ], oneOf: ["beacons", "regions"]
        ) { section, encounter, isWhole in
            if !section.has("beacons"), !section.has("regions") {
                section.reportMissing("beacons", "write names of beacons, or \"regions\"")
            }
            guard isWhole, section.has("beacons") || section.has("regions") else { return false }
            if encounter.regions?.isEmpty == true { reportEmpty("regions", section) }
            check(section, encounter)
            return true
        }
    }
}
