import BeaconModel
import BeaconSupport

/// What a member adds to a shared air: a part of a scenario that begins at a moment of the machine's clock.
package struct AirPart: Sendable {
    /// The version of the form.
    private static let format = 1

    /// The program.
    package var program: String

    /// The process.
    package var process: Int

    /// The moment at which the part begins, by the clock that runs since the machine was started (CLOCK_BOOTTIME), in
    /// nanoseconds.
    package var since: Int64

    /// True while the member listens.
    package var isListening: Bool

    /// True for a scenario with its walls and its environment, rather than a device.
    package var isPlan: Bool

    /// The senders, and the people who carry them. The first person is the device itself where it is no plan.
    package var scenario: Scenario

    /// Reads a part.
    ///
    /// - Throws: ``ScenarioError``.
    package init(json: [UInt8]) throws {
        var object = try ScenarioValue(value: JSONReader.value(of: json), path: "").object()
        let format = try object.require("format", "the version of the form").integer(in: 0...1000)
        guard format == Self.format else {
            throw ScenarioError(
                .invalidValue, at: "format", "is \(format), and this program knows \(Self.format); use the same version"
            )
        }
        program = try object.take("program")?.name() ?? ""
        process = try object.take("process")?.integer(in: 0...Int(Int32.max)) ?? 0
        since = Int64(try object.require("since", "when it begins").number(in: -1e18...1e18))
        isListening = try object.take("isListening")?.flag() ?? false
        isPlan = try object.take("isPlan")?.flag() ?? false
        var scenario = try object.require("scenario", "what it sends").object()
        var reader = ScenarioReader()
        self.scenario = try reader.scenario(from: &scenario, isPart: true)
    }

    /// The time after which the address of a device changes, in nanoseconds: 15 minutes, which the Core Specification
    /// recommends (Vol 3, Part C, Appendix A) and phones keep to.
    static let usualRotation: Int64 = 900 * Timestamp.nanosecondsPerSecond

    /// Returns the JSON text of a device that sends adverts from where it is.
    ///
    /// - Parameters:
    ///   - seed: the seed of the times at which it sends, and of its addresses.
    ///   - rotation: the time after which the addresses change, in nanoseconds.
    ///   - adverts: what it sends, each by an advert of its own.
    static func device(
        program: String, process: Int32, since: Int64, isListening: Bool, seed: UInt64,
        rotation: Int64 = usualRotation, adverts: [OutgoingAdvert]
    ) -> String {
        let senders = adverts.map { advert in
            // Ten adverts a second, which Apple's licence for beacons asks for and iOS devices keep to.
            var members = ["\"interval\":0.1,\"rotation\":\(Double(rotation) / 1e9),\"carriedBy\":\"device\""]
            if let frame = advert.frame {
                members.append(
                    """
                    "uuid":"\(frame.identity.uuid)","major":\(frame.identity.major),"minor":\(frame.identity.minor),\
                    "measuredPower":\(frame.measuredPower)
                    """)
            } else {
                // A phone's, as ranging assumes it.
                members.append("\"power\":\(IBeaconFrame.defaultMeasuredPower)")
            }
            // Only what has a place in the two packets, which is all that others hear.
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

/// Where a member of a shared air is and was: a place, or a way to it.
struct AirWalk {
    /// When the walk begins, by the machine's clock since its start, in nanoseconds.
    var since: Int64

    /// Where it begins.
    var start: Point

    /// Where it ends; nil where it stays.
    var end: Point?

    /// The speed in metres a second.
    var speed = ScenarioReader.walkingSpeed

    /// The speeds that a walk may have, in metres a second.
    static let speeds = 0.01...1000.0

    /// The JSON text: the walk of a scenario's person, with its beginning.
    var json: String {
        let places = [start, end].compactMap(\.self).map { "[\($0.x),\($0.y),\($0.z)]" }
        return #"{"since":\#(since),"speed":\#(speed),"walk":[\#(places.joined(separator: ","))]}"#
    }

    /// Reads a walk.
    ///
    /// - Parameters:
    ///   - json: the JSON text.
    ///   - origin: the moment from which the walk's times are counted, by the machine's clock in nanoseconds.
    /// - Throws: ``ScenarioError``.
    static func walk(json: [UInt8], countedFrom origin: Int64) throws -> Walk {
        var object = try ScenarioValue(value: JSONReader.value(of: json), path: "").object()
        let since = Int64(try object.require("since", "when it begins").number(in: -1e18...1e18))
        let speed = try object.take("speed")?.number(in: speeds) ?? ScenarioReader.walkingSpeed
        let places = try object.require("walk", "a list of places")
        try object.finish()
        return try ScenarioReader().walk(through: places, speed: speed, from: Double(since - origin) / 1_000_000_000)
    }
}
