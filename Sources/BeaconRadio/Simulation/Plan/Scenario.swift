/// A story for the simulated air: who sends, who hears and who walks where, on a floor plan with walls.
///
/// A scenario is checked when it is read, so that ``SimulatedAir`` can play any scenario there is. `docs/scenarios.md`
/// describes the file format.
public struct Scenario: Hashable, Sendable {
    /// What the scenario is called.
    public let name: String

    /// What happens in it, for people, or nothing.
    public let summary: String

    /// Where all chance comes from: the same seed gives the same adverts, another one the same story with other chances.
    public var seed: UInt64

    /// How long it lasts, in seconds.
    public let duration: Double

    let environment: Environment
    let walls: [Wall]
    let people: [Person]
    let receivers: [ReceiverPlan]
    let beacons: [BeaconPlan]
    let crowds: [CrowdPlan]
}
