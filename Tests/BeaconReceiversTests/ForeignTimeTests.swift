import BeaconModel
import BeaconRadio
import Testing

@testable import BeaconReceivers

/// Messages with the sender's time, some of which are wrong.
@Suite("Wrong times in messages")
struct ForeignTimeTests {
    /// A format whose messages have a time, in seconds by the sender's clock.
    struct Format: CustomTestStringConvertible {
        var testDescription: String
        var topic: String
        var message: @Sendable (_ stamp: Double) -> [UInt8]

        init(_ name: String, _ topic: String, _ message: @escaping @Sendable (Double) -> [UInt8]) {
            (testDescription, self.topic, self.message) = (name, topic, message)
        }

        init(_ name: String, _ topic: String, text: @escaping @Sendable (Int) -> String) {
            self.init(name, topic) { Array(text(Int($0)).utf8) }
        }
    }

    private static let hex = NetworkBench.hexadecimal

    static let formats = [
        relay,
        Format("Ruuvi by MQTT", "ruuvi/C8:25:2D:8E:9C:2C/C0:00:00:00:00:01") {
            #"{"gw_mac":"C8:25:2D:8E:9C:2C","rssi":-70,"ts":"\#($0)","data":"\#(hex)"}"#
        },
        Format("MOKO", "any") {
            #"{"msg_id":3070,"device_info":{"mac":"aabbccddeeff"},"data":[{"mac":"c00000000001","timestamp":\#($0)000,"#
                + #""rssi":-70,"adv_data":"\#(hex)","rsp_data":""}]}"#
        },
        Format("Ingics", "any") { "$GPRP,C00000000001,CCB97E7361A4,-70,\(hex),\($0)" },
        Format("raddec", "any") {
            #"{"transmitterId":"c00000000001","transmitterIdType":3,"rssiSignature":[{"receiverId":"a","#
                + #""receiverIdType":1,"rssi":-70}],"packets":["46240100000000c0\#(hex)"],"timestamp":\#($0)000}"#
        },
    ]

    static let relay = Format("relay", "beacon-relay/hall/heard") { (stamp: Double) -> [UInt8] in
        let to = NetworkBench.time(stamp)
        var message = RelayMessage(session: 1, from: to.advanced(by: -1_000_000_000), to: to)
        message.receivers = [.init(name: "", status: ReceiverStatus(.poweredOn))]
        message.sightings = [
            Sighting(
                time: to.advanced(by: -100_000_000), receiver: ReceiverID(0),
                address: DeviceAddress(bits: 1, kind: .random), identity: NetworkBench.identity, measuredPower: -59,
                rssi: SignalStrength(rawValue: -70))
        ]
        return message.encoded()
    }

    static let begin = 1_700_000_000.0
    static let errors: [Double] = [10, 14, 16, 60, 3600, 1e9, -16, -60, -3600, -1e9]

    @Test("One message with a wrong time costs no other", arguments: formats, errors)
    func one(_ format: Format, error: Double) {
        var bench = NetworkBench()
        for second in 0..<60 {
            let time = Self.begin + Double(second)
            bench.advance(to: time)
            bench.receive(format.topic, format.message(time + (second == 20 ? error : 0)), at: time)
            // No advert is later than its message.
            #expect(bench.times.allSatisfy { $0 <= time + 0.001 })
        }
        // A relay's next message is older than a time that is slightly ahead, which a fast message may be.
        let lost = format.topic == Self.relay.topic && (10...15).contains(error) ? 7 : 1
        #expect(bench.heard.count >= 60 - lost, "\(bench.heard.count)")
        #expect(bench.notices.count <= 1, "\(bench.notices)")
    }

    @Test("If the first time is wrong, the others count within seconds", arguments: formats, errors)
    func first(_ format: Format, error: Double) {
        var bench = NetworkBench()
        for second in 0..<60 {
            let time = Self.begin + Double(second)
            bench.advance(to: time)
            bench.receive(format.topic, format.message(time + (second == 0 ? error : 0)), at: time)
            #expect(bench.times.allSatisfy { $0 <= time + 0.001 })
        }
        #expect(bench.heard.count >= 53, "\(bench.heard.count)")
        #expect(bench.notices.count <= 1, "\(bench.notices)")
    }

    @Test("A clock that was set is followed within seconds", arguments: formats, errors)
    func set(_ format: Format, error: Double) {
        var bench = NetworkBench()
        for second in 0..<60 {
            let time = Self.begin + Double(second)
            bench.advance(to: time)
            bench.receive(format.topic, format.message(time + (second >= 20 ? error : 0)), at: time)
        }
        #expect(bench.heard.count >= 53, "\(bench.heard.count)")
        #expect(bench.times.last.map { abs($0 - Self.begin - 59) <= 15 } == true)
    }

    @Test("A relay's message that is ahead is dropped, once with its cause", arguments: [3600, 86_400])
    func dropped(error: Double) {
        var bench = NetworkBench()
        for second in 0..<60 {
            let time = Self.begin + Double(second)
            bench.advance(to: time)
            bench.receive(
                Self.relay.topic, Self.relay.message(time + (second % 10 == 5 ? error : 0)), at: time)
        }
        #expect(bench.heard.count == 54 && bench.network.duplicates == 0)
        #expect(bench.notices.count == 1 && bench.notices[0].contains("ahead"), "\(bench.notices)")
    }
}
