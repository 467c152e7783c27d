package import BeaconModel
import BeaconRadio

/// A member of a shared air as the others see it at a time.
package struct AirMemberStatus: Sendable {
    /// A beacon and its position.
    package struct Beacon: Sendable {
        /// The advertised identity.
        package var identity: BeaconIdentity
        /// The position.
        package var place: Point
        /// True while it advertises.
        package var isOn: Bool
    }

    /// The id.
    package var id: String
    /// The program.
    package var program: String
    /// The process.
    package var process: Int
    /// The position of the device; nil for a scenario.
    package var place: Point?
    /// True while it listens.
    package var isListening: Bool
    /// The beacons that it adds to the air.
    package var beacons: [Beacon]
    /// The positions of the scenario's people.
    package var people: [(name: String, place: Point)]
    /// The number of phones that are not beacons.
    package var phones: Int
    /// The scenario's walls.
    package var walls: [Wall]
}

/// Another member of a shared air, with its adverts as this member hears them.
struct AirMember {
    let id: String
    let json: [UInt8]
    let part: AirPart
    private var broadcast: Broadcast
    private let end: Int64

    /// Reads a member's part; nil if it is not valid.
    init?(id: String, json: [UInt8], listener: String) {
        guard let part = try? AirPart(json: json) else { return nil }
        self.id = id
        self.json = json
        self.part = part
        broadcast = Broadcast(
            part.scenario, receivers: [ReceiverPlan(name: listener, placement: .fixed(.zero), gain: 0)])
        let duration = part.scenario.duration
        end = duration.isFinite ? Int64(duration * 1_000_000_000) : OnTimes.forever
    }

    /// The time of the next advert, by the machine's clock.
    var nextTime: Int64? {
        guard let next = broadcast.nextTime, next < end else { return nil }
        return part.since + next
    }

    /// Skips the adverts before a time.
    ///
    /// - Parameter limit: the maximum number of adverts that are skipped one by one; the rest is skipped at once.
    /// - Returns: the number of adverts that were skipped one by one.
    @discardableResult
    mutating func pass(to time: Int64, atMost limit: Int) -> Int {
        var count = 0
        while let next = broadcast.nextTime, part.since + next < time {
            guard count < limit else {
                broadcast.jump(to: time - part.since)
                break
            }
            broadcast.skip()
            count += 1
        }
        return count
    }

    mutating func forgetMedium() { broadcast.forgetMedium() }

    mutating func setWalk(_ json: [UInt8]) {
        guard !part.isPlan, let walk = try? AirWalk.walk(json: json, countedFrom: part.since) else { return }
        broadcast.setWalk(walk)
    }

    mutating func transmit(
        through medium: Medium, to place: RadioPosition, _ deliver: (AirStation.Heard, RawSpan) throws -> Void
    ) throws {
        guard let time = nextTime else { return }
        try broadcast.transmit(through: medium, place: { _ in place }) { heard, advert in
            try deliver(AirStation.Heard(time: time, report: heard.report), advert)
        }
    }

    func place(at now: Int64) -> Point {
        broadcast.population.people.first?.position(at: Double(now - part.since) / 1_000_000_000).point ?? .zero
    }

    func status(at now: Int64) -> AirMemberStatus {
        let time = now - part.since
        let scenario = part.scenario
        return AirMemberStatus(
            id: id, program: part.program, process: part.process, place: part.isPlan ? nil : place(at: now),
            isListening: part.isListening,
            beacons: time >= end
                ? []
                : scenario.beacons.map { beacon in
                    AirMemberStatus.Beacon(
                        identity: beacon.identity,
                        place: broadcast.population.position(of: beacon.placement, at: time).point,
                        isOn: beacon.onTimes.spans.contains { $0.contains(time) })
                },
            people: part.isPlan
                ? scenario.people.map { ($0.name, $0.position(at: Double(time) / 1_000_000_000).point) } : [],
            phones: scenario.crowds.reduce(0) { $0 + $1.count }, walls: part.isPlan ? scenario.walls : [])
    }
}
