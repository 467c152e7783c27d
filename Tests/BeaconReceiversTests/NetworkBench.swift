import BeaconModel
import BeaconRadio

@testable import BeaconReceivers

/// A network that receives a test's messages, at times in seconds.
struct NetworkBench {
    static let uuid = "e2c56db5-dffb-48d2-b060-d0f5a71096e0"
    static let uuidValue = ProximityUUID(high: 0xE2C5_6DB5_DFFB_48D2, low: 0xB060_D0F5_A710_96E0)
    static let identity = BeaconIdentity(uuid: uuidValue, major: 1, minor: 2)
    static let frame = IBeaconFrame(identity: identity, measuredPower: -59)
    /// The advert of ``frame`` in hexadecimal digits.
    static let hexadecimal = "0201061aff4c000215e2c56db5dffb48d2b060d0f5a71096e000010002c5"
    /// The same advert as base64.
    static let base64 = "AgEGGv9MAAIV4sVttd/7SNKwYND1pxCW4AABAALF"

    var network: ReceiverNetwork
    private var batch = AdvertBatch()
    /// The sightings as text.
    private(set) var heard: [String] = []
    private(set) var times: [Double] = []
    /// The signal strengths of the sightings, as delivered.
    private(set) var readings: [Int] = []
    private(set) var deaf: [String] = []
    private(set) var notices: [String] = []

    /// Creates a network that is connected at time 1000.
    init(_ settings: ReceiverNetwork.Settings = .init()) {
        network = ReceiverNetwork(settings)
        network.connect(at: Self.time(1000))
    }

    static func time(_ seconds: Double) -> Timestamp { Timestamp(nanoseconds: Int64((seconds * 1e9).rounded())) }

    /// Receives a message.
    mutating func receive(_ topic: String, _ payload: String, at time: Double = 1001, isRetained: Bool = false) {
        receive(topic, Array(payload.utf8), at: time, isRetained: isRetained)
    }

    mutating func receive(_ topic: String, _ payload: [UInt8], at time: Double = 1001, isRetained: Bool = false) {
        batch.begin()
        network.receive(
            topic: topic.utf8.span.bytes, payload: payload.span.bytes, isRetained: isRetained, at: Self.time(time),
            into: &batch)
        for sighting in batch.sightings {
            heard.append(
                "\(sighting.receiver.index) \(sighting.address) \(sighting.identity.major)/\(sighting.identity.minor) "
                    + "\(sighting.measuredPower) \(sighting.rssi.dBm.map(String.init) ?? "-")")
            times.append(sighting.time.seconds)
            readings.append(Int(sighting.rssi.rawValue))
        }
        noteEvents()
    }

    /// Advances the clock in one step.
    mutating func advance(to time: Double) {
        network.advance(to: Self.time(time), into: &batch)
        noteEvents()
    }

    /// Advances the clock in steps of a second.
    mutating func pass(to time: Double) {
        var now = 1000.0
        while now < time {
            now = min(now + 1, time)
            network.advance(to: Self.time(now), into: &batch)
        }
        noteEvents()
    }

    private mutating func noteEvents() {
        for event in batch.drainEvents() { note(event) }
    }

    private mutating func note(_ event: SourceEvent) {
        switch event {
        case .deaf(let from, let to, let receiver):
            deaf.append("\(receiver.map { "\($0.index)" } ?? "all") \(from.seconds)...\(to.seconds)")
        case .notice(let notice): notices.append(notice.message)
        default: break
        }
    }

    /// The state of each receiver, by name.
    var hearing: [String] {
        network.receivers.map { "\($0.name) \(!$0.isHearing ? "deaf" : $0.isDoubtful ? "doubtful" : "hears")" }
    }
}
