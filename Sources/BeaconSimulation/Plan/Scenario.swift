import BeaconModel

/// A scenario for the simulated air: its senders, its receivers and its walking people, on a floor plan with walls.
///
/// The initializers check a scenario, so that ``ScenarioSource`` can play any scenario. `docs/scenarios.md` describes
/// the file format.
public struct Scenario: Hashable, Sendable {
    /// The name of the scenario.
    public let name: String

    /// A description of the story, for people; empty if the file has none.
    public let summary: String

    /// The seed of all randomness. The same seed gives the same adverts. Another seed gives the same story with other
    /// fading, losses and addresses.
    public var seed: UInt64

    /// The duration in seconds. A process's part of a shared air may have no end; its duration is infinite.
    public let duration: Double

    let environment: Environment
    let walls: [Wall]

    /// The rooms, for predictions; the air is the same without them.
    let rooms: [RoomOutline]
    let people: [Person]
    let receivers: [ReceiverPlan]
    let beacons: [BeaconPlan]

    /// The devices that are not beacons.
    let devices: [DevicePlan]
    let crowds: [CrowdPlan]
}

extension Scenario {
    /// Reads a scenario from the text of a JSON file; `docs/scenarios.md` describes the format.
    ///
    /// - Throws: ``ScenarioError``, which names the first error and its place.
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
        ("still", PackageResources.still_json),
    ]

    /// The names of the scenarios that ship with the package, in alphabetical order.
    public static var names: [String] { shipped.map(\.name) }

    /// Creates a scenario that ships with the package.
    ///
    /// - Throws: ``ScenarioError`` of ``ScenarioError/Code/unknownScenario`` if no scenario has this name.
    public init(named name: String) throws { try self.init(json: Self.json(named: name)) }

    /// Returns the file of a scenario that ships with the package.
    ///
    /// - Throws: ``ScenarioError`` of ``ScenarioError/Code/unknownScenario`` if no scenario has this name.
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

/// A scenario's description of a receiver.
struct ReceiverPlan: Hashable, Sendable {
    var name: String
    var placement: Placement

    /// The gain of the receiver relative to the model, in dB: antennas and chips differ.
    var gain: Double
}

/// A scenario's description of a beacon.
struct BeaconPlan: Hashable, Sendable {
    /// The name of the beacon's random streams: its name in the scenario or its identity, made unique.
    var key: String

    var identity: BeaconIdentity

    /// The name in its scan response, and the services.
    var localName: String?
    var services: [ServiceUUID]

    /// The signal at one meter that the beacon claims, in dBm.
    var measuredPower: Int8

    /// The difference between the real and the claimed signal at one meter, in dB.
    var powerOffset: Double

    var placement: Placement

    /// The time from one advert to the next in nanoseconds, without jitter.
    var interval: Int64

    /// The maximum random addition to the interval, in nanoseconds.
    var jitter: Int64

    var addressing: Addressing
    var onTimes: OnTimes
}

/// A scenario's description of a device that is not a beacon.
struct DevicePlan: Hashable, Sendable {
    /// The name of its random streams.
    var key: String

    /// The name in its adverts, and the services.
    var localName: String?
    var services: [ServiceUUID]

    /// The signal at one meter, in dBm.
    var power: Double

    var placement: Placement

    /// The time from one advert to the next in nanoseconds, without jitter.
    var interval: Int64

    /// The maximum random addition to the interval, in nanoseconds.
    var jitter: Int64

    var addressing: Addressing
    var onTimes: OnTimes
}

/// A scenario's description of a crowd of people with phones that are not beacons.
struct CrowdPlan: Hashable, Sendable {
    /// The name of the crowd's random streams.
    var key: String

    /// The number of phones.
    var count: Int

    /// Two opposite corners of the crowd's area.
    var corner: Point
    var oppositeCorner: Point

    /// The walking speed of the phones' owners in meters per second, or 0 if they stand.
    var speed: Double

    /// The signal of a phone at one meter, in dBm.
    var power: Double

    /// The time from one advert to the next in nanoseconds, without jitter.
    var interval: Int64

    /// The maximum random addition to the interval, in nanoseconds.
    var jitter: Int64

    /// The time after which a phone changes its address, in nanoseconds.
    var rotation: Int64
}
