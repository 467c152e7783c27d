import BeaconEngine
import BeaconModel

/// Three rooms in a row, each with a receiver, and a beacon at the given levels.
struct PlaceBench: ~Copyable {
    var engine = Engine()
    private(set) var time = 0.0
    private var adverts = 0

    /// The power that the beacon claims.
    var claims = PowerSequence.constant(-59)

    init(_ map: PlaceMap = PlaceMap(placeCount: 3, receivers: [0, 1, 2]), attaching count: Int = 3) {
        engine.startLocating(map, [nil])
        for number in 0..<count { engine.setReceiver(ReceiverID(UInt16(number)), of: number) }
    }

    /// Lets seconds pass in which each receiver hears the beacon ten times at its level; nil for a receiver that does
    /// not.
    mutating func pass(_ seconds: Int, _ levels: [Int8?], minor: UInt16 = 1) {
        for _ in 0..<seconds {
            for tenth in 0..<10 {
                let power = claims.power(time + Double(tenth) / 10, adverts)
                adverts += 1
                for (receiver, level) in levels.enumerated() {
                    guard let level else { continue }
                    engine.receive(
                        .of(
                            minor: minor, at: time + Double(tenth) / 10 + 0.05, rssi: level, power: power,
                            receiver: UInt16(receiver)))
                }
            }
            time += 1
            engine.advance(to: .at(time))
        }
    }

    /// Sets the hearing of a receiver from now on.
    mutating func set(_ receiver: UInt16, isHearing: Bool) {
        engine.setHearing(isHearing, of: ReceiverID(receiver), at: .at(time))
    }

    /// The changes since the last call, as text: `4.0 1`, `64.0 nowhere`.
    mutating func changes() -> [String] {
        engine.drainEvents().compactMap { event in
            guard case .placed(let change) = event else { return nil }
            let place =
                switch change.whereabouts {
                case .unknown: "unknown"
                case .nowhere: "nowhere"
                case .place(let number): "\(number)"
                }
            return "\(change.time.seconds) \(place)"
        }
    }
}
