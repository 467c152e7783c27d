import BeaconModel
import BeaconRadio
import Testing

@testable import BeaconReceivers

@Suite("States of a network's receivers")
struct HearingTests {
    private static func advert(_ bench: inout NetworkBench, _ receiver: String, at time: Double) {
        bench.receive("home/\(receiver)/BTtoMQTT/1", FormatTests.openMQTTGateway(rssi: -Int(time) % 50 - 40), at: time)
    }

    @Test("After a will message a receiver counts as deaf since its last message, and its next message ends that")
    func will() {
        var bench = NetworkBench()
        Self.advert(&bench, "hall", at: 1001)
        Self.advert(&bench, "attic", at: 1001)
        bench.receive("home/hall/LWT", "offline", at: 1020)
        #expect(bench.hearing == ["hall deaf", "attic hears"])
        #expect(bench.deaf == ["0 1001.0...1020.0"])
        bench.receive("home/hall/LWT", "offline", at: 1021)
        #expect(bench.deaf.count == 1)
        bench.receive("home/hall/LWT", "online", at: 1030)
        #expect(bench.hearing == ["hall hears", "attic hears"])
        // It was away until then.
        #expect(bench.deaf.last == "0 1001.0...1030.0")
        #expect(bench.network.statuses.map(\.state) == [.poweredOn, .poweredOn])
    }

    @Test(
        "All notations of a status are understood",
        arguments: [
            ("home/hall/LWT", #"{"online":false}"#, false), ("home/hall/LWT", #"{"online":true}"#, true),
            ("home/hall/LWT", "Online", true), ("home/hall/LWT", #"{"state":"offline"}"#, false),
        ])
    func notations(topic: String, payload: String, isOnline: Bool) {
        var bench = NetworkBench()
        Self.advert(&bench, "hall", at: 1001)
        bench.receive(topic, payload, at: 1002)
        #expect(bench.network.receivers[0].isOnline == isOnline)
    }

    @Test("Retained messages show which receivers exist, but are not current adverts")
    func retained() {
        var bench = NetworkBench()
        bench.receive("espresense/rooms/kitchen/status", "online", isRetained: true)
        bench.receive("espresense/rooms/cellar/status", "offline", isRetained: true)
        bench.receive("ruuvi/C8:25:2D:8E:9C:2C/gw_status", #"{"state":"online"}"#, isRetained: true)
        // A lamp, which may have no Bluetooth.
        bench.receive("shelly-lamp/online", "true", isRetained: true)
        bench.receive("home/radio433/LWT", "online", isRetained: true)
        bench.receive("home/hall/BTtoMQTT/1", FormatTests.openMQTTGateway(), isRetained: true)
        #expect(bench.heard == [])
        #expect(bench.hearing == ["kitchen doubtful", "cellar deaf", "C8:25:2D:8E:9C:2C doubtful", "hall doubtful"])
        #expect(bench.network.lateAdverts == 1)
        // A live message outweighs a retained one.
        bench.receive("home/radio433/LWT", "offline", at: 1005, isRetained: true)
        Self.advert(&bench, "radio433", at: 1006)
        #expect(bench.hearing.last == "radio433 hears")
    }

    @Test("A receiver that is silent for longer than usual counts as deaf since its last message")
    func silence() {
        var bench = NetworkBench()
        for second in 1...60 { Self.advert(&bench, "hall", at: 1000 + Double(second)) }
        bench.pass(to: 1060.5)
        #expect(bench.hearing == ["hall hears"])
        bench.pass(to: 1070)
        #expect(bench.hearing == ["hall doubtful"])
        bench.pass(to: 1071)
        #expect(bench.hearing == ["hall deaf"])
        #expect(bench.deaf == ["0 1060.0...1071.0"])
        // For as long as it lasts: no will message reports its death.
        bench.pass(to: 5000)
        #expect(bench.hearing == ["hall deaf"])
        Self.advert(&bench, "hall", at: 5001)
        #expect(bench.hearing == ["hall hears"])
    }

    @Test("A gateway that sends every 20 s may be silent for four times as long")
    func slow() {
        var bench = NetworkBench()
        for number in 0..<10 { Self.advert(&bench, "hall", at: 1001 + Double(number) * 20) }
        bench.pass(to: 1181 + 79)
        #expect(bench.hearing == ["hall doubtful"])
        bench.pass(to: 1181 + 82)
        #expect(bench.hearing == ["hall deaf"])
    }

    @Test("Two silences of about the same length in short succession are a rhythm")
    func rhythm() {
        for (pause, isRhythm) in [(0.0, true), (30, true), (300, false)] {
            var bench = NetworkBench()
            Self.advert(&bench, "hall", at: 1001)
            bench.pass(to: 1030)
            Self.advert(&bench, "hall", at: 1031)
            for second in stride(from: 1.0, through: pause, by: 1) { Self.advert(&bench, "hall", at: 1031 + second) }
            let end = 1031 + pause
            bench.pass(to: end + 31)
            Self.advert(&bench, "hall", at: end + 32)
            #expect(bench.deaf.count == 2)
            bench.pass(to: end + 32 + 45)
            #expect(bench.hearing == [isRhythm ? "hall doubtful" : "hall deaf"], "\(pause)")
            // A receiver that sends nothing for much longer may be dead.
            bench.pass(to: end + 32 + 130)
            #expect(bench.hearing == ["hall deaf"])
        }
    }

    @Test("A receiver with a will message is doubtful until it sends again and its delayed messages have arrived")
    func lastWill() {
        var bench = NetworkBench()
        bench.receive("home/hall/LWT", "online", at: 1000.5, isRetained: true)
        Self.advert(&bench, "hall", at: 1001)
        bench.pass(to: 1300)
        #expect(bench.hearing == ["hall doubtful"])
        #expect(bench.deaf == [])
        bench.receive("home/hall/SYStoMQTT", #"{"uptime":1}"#, at: 1301)
        bench.pass(to: 1301.9)
        #expect(bench.hearing == ["hall doubtful"])
        bench.pass(to: 1302.5)
        #expect(bench.hearing == ["hall hears"])
        bench.pass(to: 1303)
        #expect(bench.hearing == ["hall doubtful"])
    }

    @Test("A setting makes silence count as an empty room", arguments: [30.0, 200.0])
    func emptyAfter(seconds: Double) {
        var settings = ReceiverNetwork.Settings()
        settings.emptyAfter = Int64(seconds * 1e9)
        var bench = NetworkBench(settings)
        Self.advert(&bench, "hall", at: 1001)
        bench.pass(to: 1001 + seconds - 1)
        #expect(bench.hearing == ["hall doubtful"])
        bench.pass(to: 1001 + seconds + 1)
        #expect(bench.hearing == ["hall hears"])
    }

    @Test("A heartbeat without adverts is a sign of life")
    func heartbeat() {
        var bench = NetworkBench()
        Self.advert(&bench, "hall", at: 1001)
        for second in stride(from: 1005.0, through: 1095, by: 5) {
            bench.receive("home/hall/SYStoMQTT", #"{"uptime":\#(Int(second))}"#, at: second)
            bench.pass(to: second)
            #expect(bench.hearing == ["hall hears"])
        }
        #expect(bench.deaf == [])
    }

    @Test("No receiver hears without a connection, and each hears again with its first message")
    func connection() {
        var bench = NetworkBench()
        Self.advert(&bench, "hall", at: 1001)
        bench.network.disconnect()
        #expect(bench.network.statuses.map(\.state) == [.resetting])
        #expect(!bench.network.isHearing)
        bench.pass(to: 1200)
        #expect(bench.deaf == [])
        bench.network.connect(at: NetworkBench.time(1200))
        #expect(bench.hearing == ["hall doubtful"])
        bench.pass(to: 1205)
        #expect(bench.hearing == ["hall doubtful"])
        Self.advert(&bench, "hall", at: 1206)
        bench.pass(to: 1207)
        #expect(bench.hearing == ["hall hears"])
    }

    @Test("Receivers of different kinds can share a name, and the user's names are used")
    func names() {
        var settings = ReceiverNetwork.Settings()
        settings.names = ["C8:25:2D:8E:9C:2C": "hall"]
        var bench = NetworkBench(settings)
        Self.advert(&bench, "kitchen", at: 1001)
        bench.receive("espresense/rooms/kitchen/status", "online")
        bench.receive("ruuvi/C8:25:2D:8E:9C:2C/gw_status", "online")
        Self.advert(&bench, "a\nb\u{202E}", at: 1002)
        #expect(bench.network.names == ["kitchen", "kitchen (ESPresense)", "hall", "a b\\u{202e}"])
        #expect(bench.network.statuses.map(\.isSmoothed) == [false, true, false, false])
    }
}

@Suite("Times and duplicates of messages")
struct TimeTests {
    private static func receive(_ bench: inout NetworkBench, stamp: Double, at arrival: Double, rssi: Int = -70) {
        bench.receive(
            "ruuvi/C8:25:2D:8E:9C:2C/C0:00:00:00:00:01",
            #"{"rssi":\#(rssi),"ts":"\#(Int(stamp))","data":"\#(NetworkBench.hexadecimal)"}"#, at: arrival)
    }

    @Test("A receiver's clock is estimated, however wrong it is", arguments: [0.0, 3600.0, -31_536_000.0])
    func skew(_ skew: Double) {
        var bench = NetworkBench()
        let begin = 1_700_000_000.0
        // One message a second. All but a few are delayed, by up to 8 s.
        for second in 0..<60 {
            let delay = second % 10 == 0 ? 0.1 : Double(second * 7 % 9)
            Self.receive(
                &bench, stamp: begin + Double(second) + skew, at: begin + Double(second) + delay, rssi: -second - 1)
        }
        #expect(bench.times.count == 60)
        for (second, time) in bench.times.enumerated() { #expect(abs(time - begin - Double(second)) <= 1.2) }
    }

    @Test("Adverts that waited for the network are not current")
    func late() {
        var bench = NetworkBench()
        let begin = 1_700_000_000.0
        for second in 0..<10 { Self.receive(&bench, stamp: begin + Double(second), at: begin + Double(second)) }
        // A minute of adverts, at once.
        for second in 10..<70 {
            Self.receive(&bench, stamp: begin + Double(second), at: begin + 100 + Double(second) * 0.01)
        }
        #expect(bench.times.count == 10)
        #expect(bench.network.lateAdverts == 60)
        Self.receive(&bench, stamp: begin + 102, at: begin + 102)
        #expect(bench.times.count == 11)
    }

    @Test("A clock that was set forward or back is estimated again within seconds", arguments: [7200.0, -7200.0])
    func set(_ step: Double) {
        var bench = NetworkBench()
        let begin = 1_700_000_000.0
        for second in 0..<10 { Self.receive(&bench, stamp: begin + Double(second), at: begin + Double(second)) }
        for second in 10..<40 { Self.receive(&bench, stamp: begin + Double(second) + step, at: begin + Double(second)) }
        #expect(bench.times.count >= 33)
        #expect(bench.times.last == begin + 39)
    }

    @Test("A duplicate message counts once, and the same content later counts again")
    func duplicates() {
        var bench = NetworkBench()
        for _ in 0..<3 { bench.receive("home/hall/BTtoMQTT/1", FormatTests.openMQTTGateway(), at: 1001) }
        bench.receive("home/hall/BTtoMQTT/1", FormatTests.openMQTTGateway(), at: 1001.005)
        bench.receive("home/attic/BTtoMQTT/1", FormatTests.openMQTTGateway(), at: 1001.005)
        bench.receive("home/hall/BTtoMQTT/1", FormatTests.openMQTTGateway(), at: 1001.1)
        #expect(bench.heard.count == 3)
        #expect(bench.network.duplicates == 3)
    }
}
