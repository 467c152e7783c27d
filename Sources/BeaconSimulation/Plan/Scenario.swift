import BeaconModel

/// A story for the simulated air: who sends, who hears and who walks where, on a floor plan with walls.
///
/// A scenario is checked when it is read, so that ``ScenarioSource`` can play any scenario there is.
/// `docs/scenarios.md` describes the file format.
public struct Scenario: Hashable, Sendable {
    /// The name of the scenario.
    public let name: String

    /// A description of the story, for people; empty where there is none.
    public let summary: String

    /// The seed of all randomness: the same seed gives the same adverts, another one the same story with other fading,
    /// losses and addresses.
    public var seed: UInt64

    /// The duration in seconds. What a process adds to an air that is shared may last for ever, which is infinity.
    public let duration: Double

    let environment: Environment
    let walls: [Wall]
    let people: [Person]
    let receivers: [ReceiverPlan]
    let beacons: [BeaconPlan]

    /// The devices that are no beacons.
    let devices: [DevicePlan]
    let crowds: [CrowdPlan]
}

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

extension Scenario {
    private static let shipped: [(name: String, json: [UInt8])] = [
        ("department-store", PackageResources.department_store_json),
        ("museum", PackageResources.museum_json),
        ("point-of-sale", PackageResources.point_of_sale_json),
    ]

    /// The names of the scenarios that ship with the package, in alphabetical order.
    public static var names: [String] { shipped.map(\.name) }

    /// Creates a scenario that ships with the package.
    ///
    /// - Throws: ``ScenarioError`` of ``ScenarioError/Code/unknownScenario`` where none has this name.
    public init(named name: String) throws { try self.init(json: Self.json(named: name)) }

    /// Returns the file of a scenario that ships with the package.
    ///
    /// - Throws: ``ScenarioError`` of ``ScenarioError/Code/unknownScenario`` where none has this name.
    package static func json(named name: String) throws -> [UInt8] {
        guard let found = shipped.first(where: { $0.name == name }) else {
            throw ScenarioError(
                .unknownScenario, at: "",
                "\"\(name)\" does not ship with the package; choose one of \(names.joined(separator: ", ")), "
                    + "or give the path of a file")
        }
        return found.json
    }
}

/// A receiver as a scenario describes it.
struct ReceiverPlan: Hashable, Sendable {
    var name: String
    var placement: Placement

    /// The gain of the receiver over the model, in dB: antennas and chips differ.
    var gain: Double
}

/// A beacon as a scenario describes it.
struct BeaconPlan: Hashable, Sendable {
    /// The name of the beacon's random streams: its name in the scenario or its identity, made unique.
    var key: String

    var identity: BeaconIdentity

    /// The name that it says in its scan response, and the services.
    var localName: String?
    var services: [ServiceUUID]

    /// The strength one metre away that the beacon states, in dBm.
    var measuredPower: Int8

    /// The difference of the real strength at one metre from the stated one, in dB.
    var powerOffset: Double

    var placement: Placement

    /// Nanoseconds from one advert to the next, without jitter.
    var interval: Int64

    /// The most that is added to the interval at random, in nanoseconds.
    var jitter: Int64

    var addressing: Addressing
    var onTimes: OnTimes
}

/// A device that is no beacon, as a scenario describes it.
struct DevicePlan: Hashable, Sendable {
    /// The name of its random streams.
    var key: String

    /// The name that it says, and the services.
    var localName: String?
    var services: [ServiceUUID]

    /// The strength one metre away, in dBm.
    var power: Double

    var placement: Placement

    /// Nanoseconds from one advert to the next, without jitter.
    var interval: Int64

    /// The most that is added to the interval at random, in nanoseconds.
    var jitter: Int64

    var addressing: Addressing
    var onTimes: OnTimes
}

/// A crowd of people with phones that are no beacons, as a scenario describes it.
struct CrowdPlan: Hashable, Sendable {
    /// The name of the crowd's random streams.
    var key: String

    /// The number of phones.
    var count: Int

    /// Two opposite corners of where they are.
    var corner: Point
    var oppositeCorner: Point

    /// The speed of their owners in metres a second, or 0 where they stand.
    var speed: Double

    /// The strength of a phone one metre away, in dBm.
    var power: Double

    /// Nanoseconds from one advert to the next, without jitter.
    var interval: Int64

    /// The most that is added to the interval at random, in nanoseconds.
    var jitter: Int64

    /// The time after which a phone changes its address, in nanoseconds.
    var rotation: Int64
}
