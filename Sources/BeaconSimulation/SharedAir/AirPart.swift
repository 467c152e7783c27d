import BeaconModel
import BeaconSupport

/// A member's part of a shared air: a part of a scenario that begins at a time of the machine's clock.
package struct AirPart: Sendable {
    /// The version of the format.
    private static let format = 1

    /// The program.
    package var program: String

    /// The process.
    package var process: Int

    /// The time at which the part begins, in nanoseconds since the machine was started (CLOCK_BOOTTIME).
    package var since: Int64

    /// True while the member listens.
    package var isListening: Bool

    /// True for a scenario with its walls and its environment, false for a device.
    package var isPlan: Bool

    /// The senders, and the people who carry them. For a device, the first person is the device itself.
    package var scenario: Scenario

    /// Reads a part.
    ///
    /// - Throws: ``ScenarioError``.
    package init(json: [UInt8]) throws {
        var object = try ScenarioValue(value: JSONReader.value(of: json), path: "").object()
        let format = try object.require("format", "the version of the format").integer(in: 0...1000)
        guard format == Self.format else {
            throw ScenarioError(
                .invalidValue, at: "format", "is \(format), this program supports \(Self.format); use the same version"
            )
        }
        program = try object.take("program")?.name() ?? ""
        process = try object.take("process")?.integer(in: 0...Int(Int32.max)) ?? 0
        since = Int64(try object.require("since", "the time at which it begins").number(in: -1e18...1e18))
        isListening = try object.take("isListening")?.flag() ?? false
        isPlan = try object.take("isPlan")?.flag() ?? false
        var scenario = try object.require("scenario", "its senders").object()
        var reader = ScenarioReader()
        self.scenario = try reader.scenario(from: &scenario, isPart: true)
    }

    /// The time after which the address of a device changes, in nanoseconds: 15 minutes, which the Core Specification
    /// recommends (Vol 3, Part C, Appendix A) and phones use.
    static let usualRotation: Int64 = 900 * Timestamp.nanosecondsPerSecond

    /// Returns the JSON text of a device that sends adverts from its position.
    ///
    /// - Parameters:
    ///   - seed: the seed of its transmission times and addresses.
    ///   - rotation: the time after which the addresses change, in nanoseconds.
    ///   - adverts: its adverts, each sent separately.
    static func device(
        program: String, process: Int32, since: Int64, isListening: Bool, seed: UInt64,
        rotation: Int64 = usualRotation, adverts: [OutgoingAdvert]
    ) -> String {
        let senders = adverts.map { advert in
            // Ten adverts a second, which Apple's license for beacons requires and iOS devices use. A phone that is no
            // beacon sends every 2 s (iOS 18.3).
            let interval = advert.key == nil ? 0.1 : 2
            var members = ["\"interval\":\(interval),\"rotation\":\(Double(rotation) / 1e9),\"carriedBy\":\"device\""]
            if let key = advert.key { members.append("\"irk\":\"\(key.secretDigits)\"") }
            if let frame = advert.frame {
                members.append(
                    """
                    "uuid":"\(frame.identity.uuid)","major":\(frame.identity.major),"minor":\(frame.identity.minor),\
                    "measuredPower":\(frame.measuredPower)
                    """)
            } else {
                // The power of a phone, as ranging assumes it.
                members.append("\"power\":\(IBeaconFrame.defaultMeasuredPower)")
            }
            // Only the fields with space in the two packets, since others hear no more.
            let sent = AdvertContents(advert: advert.advert.span.bytes)
                .merging(AdvertContents(advert: advert.scanResponse.span.bytes))
            if let name = sent.localName {
                var text: [UInt8] = []
                text.append(jsonText: name)
                members.append("\"localName\":\(String(decoding: text, as: UTF8.self))")
            }
            if !sent.services.isEmpty {
                members.append("\"services\":[\(sent.services.map { "\"\($0)\"" }.joined(separator: ","))]")
            }
            return (isBeacon: advert.frame != nil, json: "{\(members.joined(separator: ","))}")
        }
        func list(_ isBeacon: Bool) -> String {
            senders.filter { $0.isBeacon == isBeacon }.map(\.json).joined(separator: ",")
        }
        return part(
            program: program, process: process, since: since, isListening: isListening, isPlan: false,
            scenario: """
                {"seed":\(seed),"people":[{"name":"device","walk":[[0,0]]}],"beacons":[\(list(true))],\
                "devices":[\(list(false))]}
                """)
    }

    /// Returns the JSON text of a part.
    ///
    /// - Parameter scenario: the JSON text of the scenario.
    static func part(
        program: String, process: Int32, since: Int64, isListening: Bool, isPlan: Bool, scenario: String
    ) -> String {
        """
        {"format":\(format),"program":"\(program)","process":\(process),"since":\(since),\
        "isListening":\(isListening),"isPlan":\(isPlan),"scenario":\(scenario)}
        """
    }
}

/// The position and movement of a member of a shared air.
struct AirWalk {
    /// The time at which the walk begins, in nanoseconds since the machine was started.
    var since: Int64

    /// The position at which it begins.
    var start: Point

    /// The position at which it ends; nil for a member that does not move.
    var end: Point?

    /// The speed in meters per second.
    var speed = ScenarioReader.walkingSpeed

    /// The valid speeds of a walk in meters per second.
    static let speeds = 0.01...1000.0

    /// The JSON text: the walk of a scenario's person, with its start time.
    var json: String {
        let places = [start, end].compactMap(\.self).map { "[\($0.x),\($0.y),\($0.z)]" }
        return #"{"since":\#(since),"speed":\#(speed),"walk":[\#(places.joined(separator: ","))]}"#
    }

    /// Reads a walk.
    ///
    /// - Parameters:
    ///   - json: the JSON text.
    ///   - origin: the zero of the walk's times, by the machine's clock in nanoseconds.
    /// - Throws: ``ScenarioError``.
    static func walk(json: [UInt8], countedFrom origin: Int64) throws -> Walk {
        var object = try ScenarioValue(value: JSONReader.value(of: json), path: "").object()
        let since = Int64(try object.require("since", "the time at which it begins").number(in: -1e18...1e18))
        let speed = try object.take("speed")?.number(in: speeds) ?? ScenarioReader.walkingSpeed
        let places = try object.require("walk", "a list of places")
        try object.finish()
        return try ScenarioReader().walk(through: places, speed: speed, from: Double(since - origin) / 1_000_000_000)
    }
}
