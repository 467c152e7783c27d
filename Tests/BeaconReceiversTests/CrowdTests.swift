import BeaconModel
import BeaconRadio
import Testing

@testable import BeaconReceivers

@Suite("More receivers than there are places")
struct CrowdTests {
    private static func advert(_ bench: inout NetworkBench, _ receiver: String, at time: Double, rssi: Int = -70) {
        bench.advance(to: time)
        bench.receive("home/\(receiver)/BTtoMQTT/1", FormatTests.openMQTTGateway(rssi: rssi), at: time)
    }

    private static func isHeard(_ name: String, _ bench: inout NetworkBench, at time: Double) -> Bool {
        let before = bench.heard.count
        advert(&bench, name, at: time)
        guard bench.heard.count == before + 1, let place = bench.network.names.firstIndex(of: name) else {
            return false
        }
        return bench.heard.last?.hasPrefix("\(place) ") == true
    }

    @Test(
        "Made-up receivers never take the places of named and known receivers", arguments: [200, 5000])
    func flood(invented: Int) {
        var settings = ReceiverNetwork.Settings()
        settings.names = ["C8": "cellar"]
        settings.reserved = ["hall", "attic"]
        var bench = NetworkBench(settings)
        // A receiver that has been known for a minute, but is not in the configuration.
        for second in 0...61 { Self.advert(&bench, "known", at: 1001 + Double(second)) }
        var time = 1063.0
        for number in 0..<invented {
            time += 0.01
            Self.advert(&bench, "invented\(number)", at: time)
            bench.receive("home/said\(number)/LWT", "online", at: time)
            if number % 50 == 49 {
                #expect(Self.isHeard("known", &bench, at: time))
                #expect(Self.isHeard("hall", &bench, at: time))
            }
        }
        time += 1
        #expect(Self.isHeard("attic", &bench, at: time) && Self.isHeard("known", &bench, at: time))
        bench.receive("home/C8/BTtoMQTT/1", FormatTests.openMQTTGateway(rssi: -41), at: time)
        let keys = Dictionary(zip(bench.network.names, bench.network.nameKeys)) { first, _ in first }
        #expect(keys["cellar"] == "C8" && keys["known"] == "home/known", "a name is known by its key")
        #expect(bench.network.receivers.count <= 200 && bench.network.earlyStatuses.count <= 200)
        #expect(Set(bench.network.names).count == bench.network.names.count)
        #expect(bench.network.names == bench.network.receivers.map(\.name))
        // Nothing else is reported, and the notice appears only once.
        #expect(bench.notices.count == 1 && bench.notices[0].contains("more than 200 receivers"), "\(bench.notices)")
        // A new receiver that the user did not name replaces a silent one.
        #expect(Self.isHeard("new", &bench, at: time + 11))
        bench.pass(to: time + 700)
        #expect(bench.notices.count == 2 && bench.notices[1].contains("for ten minutes"))
    }

    /// Messages of receivers, by their names, for each format that names receivers.
    static let senders: [(topic: String, payload: String)] = [
        ("home/NAME/BTtoMQTT/1", FormatTests.openMQTTGateway(rssi: -70)),
        (
            "espresense/devices/x/NAME",
            #"{"id":"iBeacon:e2c56db5-dffb-48d2-b060-d0f5a71096e0-1-2","rssi":-70,"mac":"c00000000001"}"#
        ),
        (
            "NAME/events/rpc",
            #"{"method":"NotifyEvent","params":{"events":[{"event":"ble.scan_result","data":[2,[["c0:00:00:00:00:01","#
                + #"-70,"\#(NetworkBench.base64)",""]]]}],"ts":1}}"#
        ),
        (
            "tele/NAME/SENSOR",
            #"{"IBEACON":{"UID":"E2C56DB5DFFB48D2B060D0F5A71096E0","MAJOR":"0001","MINOR":"0002","RSSI":-70}}"#
        ),
        (
            "any",
            #"{"msg_id":3070,"device_info":{"mac":"NAME"},"data":[{"mac":"c00000000001","rssi":-70,"#
                + #""adv_data":"\#(NetworkBench.hexadecimal)"}]}"#
        ),
        (
            "any",
            #"[{"type":"Gateway","mac":"NAME"},{"mac":"C00000000001","rssi":-70,"#
                + #""rawData":"\#(NetworkBench.hexadecimal)"}]"#
        ),
        ("any", "$GPRP,C00000000001,NAME,-70,\(NetworkBench.hexadecimal)"),
        ("beacon-relay/NAME/heard", "relay"),
    ]

    @Test(
        "In each format, a named receiver gets a place after 300 invented ones, and its status counts",
        arguments: senders)
    func named(topic: String, payload: String) {
        for status in [nil, "online"] {
            var settings = ReceiverNetwork.Settings()
            settings.reserved = ["hall"]
            var bench = NetworkBench(settings)
            func send(_ name: String, at time: Double) {
                let topic = topic.replacing("NAME", with: name)
                if payload == "relay" {
                    bench.receive(topic, ForeignTimeTests.relay.message(time), at: time)
                } else {
                    bench.receive(topic, payload.replacing("NAME", with: name), at: time)
                }
            }
            if let status { bench.receive("home/hall/LWT", status, at: 1000.5, isRetained: true) }
            for number in 0..<300 {
                let time = 1001 + Double(number) / 100
                bench.advance(to: time)
                send("invented\(number)", at: time)
                bench.receive("home/said\(number)/LWT", "online", at: time)
            }
            bench.advance(to: 1004.5)
            send("hall", at: 1004.5)
            let hall = bench.network.receivers.first { $0.name == "hall" }
            #expect(hall != nil)
            if topic.hasPrefix("home/") { #expect(hall?.isOnline == (status == nil ? nil : true)) }
            #expect(bench.network.receivers.count <= 200 && bench.network.earlyStatuses.count <= 200)
        }
    }

    @Test("Names that appear rarely do not keep out new receivers, however old they are")
    func seldom() {
        var settings = ReceiverNetwork.Settings()
        settings.maximumReceivers = 20
        var bench = NetworkBench(settings)
        // Each name appears twice an hour, for hours.
        for number in 0..<16 {
            for name in 0..<20 {
                Self.advert(&bench, "invented\(name)", at: 1001 + Double(number) * 1800 + Double(name))
            }
        }
        let start = 1001 + 15.0 * 1800 + 60
        for second in 0..<60 { #expect(Self.isHeard("real", &bench, at: start + Double(second))) }
        // It is the most used receiver by now, and stays although it is silent while others appear.
        for name in 0..<500 { Self.advert(&bench, "other\(name)", at: start + 100 + Double(name)) }
        #expect(bench.network.names.contains("real"))
        #expect(Self.isHeard("newer", &bench, at: start + 700))
    }

    @Test("A named receiver need not wait for a silence, and a connected one is never replaced")
    func urgent() {
        var settings = ReceiverNetwork.Settings()
        settings.maximumReceivers = 3
        settings.reserved = ["hall"]
        var bench = NetworkBench(settings)
        #expect(bench.network.meet("esp", at: NetworkBench.time(1001)) == 0)
        Self.advert(&bench, "a", at: 1001)
        #expect(!Self.isHeard("b", &bench, at: 1001))
        #expect(Self.isHeard("hall", &bench, at: 1001))
        #expect(bench.network.names == ["esp", "a", "hall"])
        // The name of a replaced receiver is free again, and its place belongs to the new one.
        #expect(!Self.isHeard("b", &bench, at: 1010) && Self.isHeard("b", &bench, at: 1012))
        #expect(bench.network.names == ["esp", "b", "hall"])
        #expect(bench.hearing == ["esp deaf", "b hears", "hall deaf"])
        #expect(Self.isHeard("a", &bench, at: 1030))
        #expect(bench.network.names == ["esp", "a", "hall"])
    }

    @Test("Half of the places are open to unnamed receivers, however many are named", arguments: [0, 3, 40])
    func half(named: Int) {
        var settings = ReceiverNetwork.Settings()
        settings.maximumReceivers = 10
        settings.reserved = Set((0..<named).map { "named\($0)" })
        var bench = NetworkBench(settings)
        for number in 0..<20 { Self.advert(&bench, "other\(number)", at: 1001) }
        #expect(bench.network.names.count == 10 - min(named, 5))
        // A named receiver need not wait for a silence.
        for number in 0..<min(named, 10) { #expect(Self.isHeard("named\(number)", &bench, at: 1002)) }
        #expect(bench.network.names.count(where: { $0.hasPrefix("named") }) == min(named, 10))
    }

    @Test("A receiver is replaced only after its adverts were delivered")
    func handedOver() {
        var settings = ReceiverNetwork.Settings()
        settings.maximumReceivers = 1
        var bench = NetworkBench(settings)
        bench.receive("home/a/BTtoMQTT/1", FormatTests.openMQTTGateway(), at: 1001)
        bench.receive("home/b/BTtoMQTT/1", FormatTests.openMQTTGateway(), at: 1021)
        #expect(bench.network.names == ["a"] && bench.heard.count == 1)
        bench.advance(to: 1021)
        bench.receive("home/b/BTtoMQTT/1", FormatTests.openMQTTGateway(), at: 1022)
        #expect(bench.network.names == ["b"] && bench.heard.count == 2)
    }

    @Test("The receivers of one message do not replace each other")
    func together() {
        var settings = ReceiverNetwork.Settings()
        settings.maximumReceivers = 1
        var bench = NetworkBench(settings)
        func message(_ receivers: String...) -> String {
            let signs = receivers.map { #"{"receiverId":"\#($0)","rssi":-70}"# }.joined(separator: ",")
            return #"[{"transmitterId":"c00000000001","rssiSignature":[SIGNS],"packets":["46240100000000c0HEX"]}]"#
                .replacing("SIGNS", with: signs).replacing("HEX", with: NetworkBench.hexadecimal)
        }
        bench.receive("x", message("a"), at: 1001)
        bench.advance(to: 1001)
        bench.receive("x", message("a", "b"), at: 1030)
        #expect(bench.network.names == ["a"] && bench.heard.count == 2)
    }

    @Test("A relay whose receivers were replaced starts again with its next message")
    func relay() {
        var settings = ReceiverNetwork.Settings()
        settings.maximumReceivers = 2
        var bench = NetworkBench(settings)
        func message(_ from: Double, _ to: Double) -> [UInt8] {
            var message = RelayMessage(session: 1, from: NetworkBench.time(from), to: NetworkBench.time(to))
            message.receivers = ["hci0", "hci1"].map { .init(name: $0, status: ReceiverStatus(.poweredOn)) }
            message.sightings = [
                Sighting(
                    time: NetworkBench.time(to), receiver: ReceiverID(1),
                    address: DeviceAddress(bits: 0xC000_0000_0001, kind: .random), identity: NetworkBench.identity,
                    measuredPower: -59, rssi: SignalStrength(rawValue: -70))
            ]
            return message.encoded()
        }
        bench.receive("beacon-relay/pi/heard", message(1000, 1001), at: 1001)
        #expect(bench.network.names == ["pi/hci0", "pi/hci1"])
        #expect(Self.isHeard("hall", &bench, at: 1020))
        #expect(Set(bench.network.names) == ["hall", "pi/hci1"])
        bench.advance(to: 1040)
        bench.receive("beacon-relay/pi/heard", message(1039, 1040), at: 1040)
        #expect(Set(bench.network.names) == ["pi/hci0", "pi/hci1"])
        let place = bench.network.names.firstIndex(of: "pi/hci1")
        #expect(bench.heard.last?.hasPrefix("\(place ?? -1) ") == true)
    }

    @Test("Names that are empty or too long are rejected, and reported once")
    func long() {
        var bench = NetworkBench()
        for number in 0..<500 {
            bench.receive("home/\(String(repeating: "x", count: 65 + number % 100))/BTtoMQTT/1", #"{"rssi":-1}"#)
        }
        #expect(bench.network.receivers.isEmpty && bench.notices.count == 1)
    }
}
