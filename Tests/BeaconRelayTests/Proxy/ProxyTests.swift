import BeaconModel
import BeaconMonitoring
import BeaconRadio
import BeaconReceivers
import BeaconSupport
import Foundation
import Glibc
import TestSupport
import Testing

@testable import BeaconRelay

@Suite("Settings, receiver choice and messages of a proxy")
struct ProxyTests {
    private static let start = Timestamp(nanoseconds: 1_700_000_000_000_000_000)

    private static func time(_ seconds: Double) -> Timestamp { start.advanced(by: Int64(seconds * 1e9)) }

    private static func report(_ number: UInt64, rssi: Int8 = -60, kind: DeviceAddress.Kind = .random)
        -> AdvertisingReport
    {
        AdvertisingReport(
            kind: .nonConnectable, address: DeviceAddress(bits: number, kind: kind),
            rssi: SignalStrength(rawValue: rssi))
    }

    private static func stream() -> ProxyStream {
        ProxyStream(ProxySettings(name: "hall").identity(of: nil), port: 6053)
    }

    private static func hear(
        _ stream: ProxyStream, _ report: AdvertisingReport, by receiver: Int? = nil, at time: Double
    ) -> Bool {
        let bytes: [UInt8] = [2, 1, 6]
        return stream.hear(report, bytes.span.bytes, by: receiver, at: Self.time(time))
    }

    private static func count(_ message: [UInt8]) -> [Int] {
        var rssis: [Int] = []
        _ = ESPHomeAdverts.forEach(in: message.span.bytes) { _, rssi, _ in rssis.append(rssi) }
        return rssis
    }

    @Test("A message is due with its sixteenth advert, or a tenth of a second after its first")
    func batches() {
        let stream = Self.stream()
        #expect(stream.deadline == .latest)
        #expect(Self.hear(stream, Self.report(1), at: 0))
        #expect(!Self.hear(stream, Self.report(2), at: 0.05))
        #expect(stream.deadline == Self.time(0.1) && stream.take(at: Self.time(0.09)).isEmpty)
        #expect(stream.take(at: Self.time(0.1)).map { Self.count($0).count } == [2])
        for number in 1...15 { _ = Self.hear(stream, Self.report(UInt64(number)), at: 1) }
        #expect(stream.take(at: Self.time(1)).isEmpty)
        #expect(Self.hear(stream, Self.report(16), at: 1))
        #expect(stream.deadline == .zero && stream.take(at: Self.time(1)).map { Self.count($0).count } == [16])
    }

    @Test("The queue for a late thread is bounded, and drops the oldest messages")
    func bound() {
        let stream = Self.stream()
        for number in 1...(16 * 600) { _ = Self.hear(stream, Self.report(UInt64(number)), at: 0) }
        #expect(stream.take(at: Self.start).count == 512 && stream.dropped == 88)
    }

    @Test("An advert without a signal strength is passed on, and an advert without an address is not")
    func unusual() {
        let stream = Self.stream()
        _ = Self.hear(stream, Self.report(1, rssi: 127), at: 0)
        #expect(
            !Self.hear(stream, Self.report(0), at: 0) && !Self.hear(stream, Self.report(2, kind: .anonymous), at: 0))
        #expect(stream.take(at: Self.time(1)).map(Self.count) == [[-127]])
    }

    @Test("Each device has one chosen receiver, until another hears it much better or the chosen one falls silent")
    func strongest() {
        var choice = StrongestReceiver()
        let (device, other) = (DeviceAddress(bits: 1, kind: .random), DeviceAddress(bits: 2, kind: .random))
        let adverts: [(device: DeviceAddress, rssi: Int, receiver: Int, time: Double, passes: Bool)] = [
            (device, -70, 0, 0, true), (device, -68, 1, 0.1, false), (other, -80, 1, 0.1, true),
            (device, -60, 1, 0.2, true), (device, -66, 0, 0.3, false),
            // The chosen receiver is silent.
            (device, -75, 0, 3.1, false), (device, -75, 0, 3.3, true),
        ]
        for advert in adverts {
            let passes = choice.passes(
                advert.device, rssi: advert.rssi, by: advert.receiver, at: Self.time(advert.time))
            #expect(passes == advert.passes, "\(advert)")
        }
    }

    @Test("With random adverts of three receivers, each device is heard at least every 3 s, and mostly by one receiver")
    func strongestAtRandom() {
        for seed in 1...20 {
            var (choice, random) = (StrongestReceiver(), SplitMix64(seed: UInt64(seed)))
            var last: [UInt64: Double] = [:]
            var (changes, passed) = (0, 0)
            var receiver: [UInt64: Int] = [:]
            for step in 0..<3_000 {
                let (number, by) = (UInt64.random(in: 1...5, using: &random), Int.random(in: 0..<3, using: &random))
                let level = by == Int(number % 3) ? -60 : -75
                let time = Double(step) * 0.02
                let rssi = level + Int.random(in: -3...3, using: &random)
                if choice.passes(DeviceAddress(bits: number, kind: .random), rssi: rssi, by: by, at: Self.time(time)) {
                    passed += 1
                    if let before = receiver[number], before != by { changes += 1 }
                    (last[number], receiver[number]) = (time, by)
                }
                #expect(time - (last[number] ?? 0) <= 3)
            }
            #expect(changes <= 5 && passed > 600)
        }
    }

    @Test("Names are valid in ESPHome; addresses are local, stable and different for each receiver")
    func identities() throws {
        let settings = ProxySettings(name: "hall")
        let (all, one, other) = (
            settings.identity(of: nil), settings.identity(of: "hci0"), settings.identity(of: "Côte d'Or 2")
        )
        #expect(all.name == "hall" && one.name == "hall-hci0" && other.name == "hall-c-te-d-or-2")
        let addresses = [all, one, other].map(\.address)
        #expect(
            Set(addresses).count == 3
                && addresses == [nil, "hci0", "Côte d'Or 2"].map { settings.identity(of: $0).address })
        for address in addresses { #expect(address.bits >> 40 & 3 == 2) }
        #expect(all.addressDigits.count == 12)
        #expect(ProxySettings().mistakes().isEmpty, "the machine's name gives a valid name")
    }

    @Test("Mistakes are reported with remedies")
    func mistakes() {
        var settings = ProxySettings(name: "The Hall")
        settings.port = 0
        settings.key = Secret("AAEC")
        settings.address = "hall.local"
        let mistakes = settings.mistakes()
        #expect(mistakes.count == 4)
        for hint in ["lower case", "65535", "openssl", "192.168.1.5"] {
            #expect(mistakes.contains { $0.contains(hint) })
        }
        #expect(throws: ProxyError.self) { try ProxyServer(settings) { _ in } }
    }

    @Test("A receiver keeps its port over restarts, and another one gets the next free port")
    func ports() throws {
        let folder = try TemporaryFolder()
        let path = folder.url.path + "/x/proxy.json"
        let notices = Locked<[ProxyNotice]>([])
        func ports() -> ProxyPorts {
            ProxyPorts(path: path, first: 7000) { notice in notices.withLock { $0.append(notice) } }
        }
        var table = ports()
        #expect(table.port(of: "hall") == 7000 && table.port(of: "cellar") == 7001 && table.port(of: "hall") == 7000)
        table.flush()
        table = ports()
        #expect(table.known == ["hall": 7000, "cellar": 7001] && table.port(of: "roof") == 7002)
        #expect(ProxyPorts(path: nil, first: .max) { _ in }.port(of: "a") == .max)
        #expect(notices.withLock { $0.isEmpty })
        table.flush()
        try Data("{".utf8).write(to: URL(fileURLWithPath: path))
        #expect(ports().known.isEmpty && FileManager.default.fileExists(atPath: path + ".damaged"))
        #expect(notices.withLock { $0.count } == 1)
    }
}

/// The server with real connections: sockets of Linux and this package's own clients.
@Suite("A proxy and its clients")
struct ProxyServerTests {
    /// A server and its notices.
    private final class Bench: Sendable {
        let notices = Locked<[String]>([])
        let server: ProxyServer
        let port: UInt16

        init(isEach: Bool = false, key: Secret? = nil) throws {
            port = try FreePort.find()
            var settings = ProxySettings(name: "hall")
            settings.port = port
            settings.isEach = isEach
            settings.key = key
            settings.address = "127.0.0.1"
            settings.isAnnounced = false
            let notices = notices
            server = try ProxyServer(settings) { notice in notices.withLock { $0.append(notice.message) } }
        }

        func hasReported(_ text: String) -> Bool { notices.withLock { $0.contains { $0.contains(text) } } }

        /// Creates a client's source for the proxy.
        func client(key: String? = nil, port: UInt16? = nil) throws -> SourceRunner {
            var source = try #require(ESPHomeSource("esphome:127.0.0.1:\(port ?? self.port)", environment: [:]))
            source.key = key.map(Secret.init)
            return SourceRunner(.network(source), pace: .fastest, mode: .ranging)
        }
    }

    /// A client and its sightings and states.
    private final class Listener: Sendable {
        let heard = Locked<[Sighting]>([])
        let states = Locked<[RadioState]>([])
        let runner: SourceRunner
        private let task: Task<Void, Never>

        init(_ runner: SourceRunner) {
            self.runner = runner
            let (heard, states) = (heard, states)
            runner.start()
            task = Task {
                for await message in runner.channel {
                    switch message {
                    case .heard(let batch): heard.withLock { $0 += batch.sightings }
                    case .state(let state): states.withLock { $0.append(state) }
                    default: break
                    }
                }
            }
        }

        func end() async {
            runner.stop()
            await task.value
        }
    }

    private static let frame = IBeaconFrame(
        identity: BeaconIdentity(
            uuid: ProximityUUID(high: 0xE2C5_6DB5_DFFB_48D2, low: 0xB060_D0F5_A710_96E0), major: 1, minor: 2),
        measuredPower: -59)

    private static func hear(_ feed: ProxyFeed, rssi: Int8, receiver: UInt16 = 0) {
        let reception = Reception(
            time: RadioClock.now(), receiver: ReceiverID(receiver),
            report: AdvertisingReport(
                kind: .nonConnectable, address: DeviceAddress(bits: 0xC000_0000_0001, kind: .random),
                rssi: SignalStrength(rawValue: rssi)))
        feed.hear(reception, frame.advert.span.bytes)
    }

    @Test(
        "Two clients have the adverts at once, and are notified when the receiver stops",
        arguments: [
            nil, "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=",
        ])
    func clients(key: String?) async throws {
        let bench = try Bench(key: key.map(Secret.init))
        let feed = bench.server.feed(isLive: true)
        feed.update(names: ["hci0"], statuses: [ReceiverStatus(.poweredOn)])
        Self.hear(feed, rssi: -50)
        bench.server.start()
        try await eventually { bench.hasReported("is served") }
        #expect(!bench.server.isWanted)
        let listeners = try [Listener(bench.client(key: key)), Listener(bench.client(key: key))]
        for listener in listeners {
            try await eventually { listener.states.withLock { $0.last == .poweredOn } }
        }
        #expect(bench.server.isWanted)
        for rssi in -80 ... -61 { Self.hear(feed, rssi: Int8(rssi)) }
        for listener in listeners {
            try await eventually { listener.heard.withLock { $0.count } == 20 }
            // The advert before the subscriptions is gone.
            #expect(listener.heard.withLock { $0.map(\.rssi.rawValue) } == Array(-80 ... -61))
        }
        feed.update(names: ["hci0"], statuses: [ReceiverStatus(.poweredOff)])
        for listener in listeners {
            try await eventually { listener.states.withLock { $0.last != .poweredOn } }
        }
        for listener in listeners { await listener.end() }
        try await eventually { !bench.server.isWanted }
        await bench.server.stop()
    }

    @Test("Each receiver is a device, at the next port")
    func each() async throws {
        let bench = try Bench(isEach: true)
        let feed = bench.server.feed(isLive: true) { $0 == "hci0" ? "door" : $0 }
        bench.server.start()
        feed.update(names: ["hci0", "hci1"], statuses: [.init(.poweredOn), .init(.poweredOn)])
        try await eventually { bench.hasReported("hall-door is served") && bench.hasReported("hall-hci1 is served") }
        let other = try #require(bench.server.place(of: "hci1", in: 1, titled: "hci1"))
        let listener = try Listener(bench.client(port: other.stream.port))
        try await eventually { listener.states.withLock { $0.last == .poweredOn } }
        Self.hear(feed, rssi: -50, receiver: 0)
        Self.hear(feed, rssi: -60, receiver: 1)
        try await eventually { listener.heard.withLock { !$0.isEmpty } }
        #expect(listener.heard.withLock { $0.map(\.rssi.rawValue) } == [-60])
        await listener.end()
        await bench.server.stop()
    }

    @Test("A named receiver gets a device after a hundred invented ones, and keeps its port after restarts")
    func reserved() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        var settings = ProxySettings(name: "hall")
        (settings.isEach, settings.isAnnounced, settings.address) = (true, false, "127.0.0.1")
        settings.port = try FreePort.find()
        settings.portsPath = folder.appendingPathComponent("proxy.json").path
        var ports: Set<UInt16> = []
        // The first run has no named receiver, as before the configuration named one.
        for run in 0..<4 {
            let notices = Locked(0)
            let server = try ProxyServer(settings) { notice in
                if notice.message.contains("unnamed") { notices.withLock { $0 += 1 } }
            }
            if run > 0 { server.reserve(["kitchen", "cellar"]) }
            let places = (0..<100).map { server.place(of: "invented\($0)", in: 1, titled: "invented\($0)") }
            #expect(places.count { $0 != nil } == 64 && notices.withLock { $0 } == 1)
            let kitchen = server.place(of: "C8", in: 1, titled: "kitchen")
            #expect((kitchen != nil) == (run > 0))
            if let kitchen { ports.insert(kitchen.stream.port) }
            // A receiver of this machine is not made up.
            #expect(server.place(of: "hci0", in: 2, titled: "hci0", isOpen: false) != nil)
            // The ports are saved.
            server.start()
            await server.stop()
        }
        #expect(ports.count == 1)
    }

    @Test(
        "The table of receivers has only those that a source names, however many it named before",
        arguments: [true, false])
    func shrinking(isEach: Bool) throws {
        var settings = ProxySettings(name: "hall")
        (settings.isEach, settings.isAnnounced) = (isEach, false)
        let server = try ProxyServer(settings) { _ in }
        let other = server.feed(isLive: true)
        other.update(names: ["kitchen"], statuses: [])
        do {
            let feed = server.feed(isLive: true)
            for number in 0..<1000 {
                // Each receiver replaces the one before.
                feed.update(names: ["hall", "invented\(number)"], statuses: [])
                #expect(server.receiverCount <= 3)
            }
            let before = server.place(of: "hall", in: 2, titled: "hall")
            feed.update(names: ["hall"], statuses: [])
            #expect(
                server.receiverCount == 2 && server.place(of: "hall", in: 2, titled: "hall")?.number == before?.number)
        }
        // The source was removed.
        #expect(server.receiverCount == 1)
        other.update(names: [], statuses: [])
        #expect(server.receiverCount == 0)
    }

    @Test("A client that asks for active scanning is reported once, and others are not")
    func activeScanning() async throws {
        let bench = try Bench()
        bench.server.start()
        try await eventually { bench.hasReported("clients recognize it by this name") }
        for modes in [[0], [1], [0, 1, 1]] as [[UInt8]] {
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            defer { close(descriptor) }
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            address.sin_port = bench.port.bigEndian
            let status = withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
            #expect(status == 0)
            // In plain frames: the hello, and the scanner's mode (aioesphomeapi, `BluetoothScannerSetModeRequest`).
            let bytes: [UInt8] = [0, 0, 1] + modes.flatMap { mode -> [UInt8] in [0, 2, 127, 8, mode] }
            #expect(write(descriptor, bytes, bytes.count) == bytes.count)
            // The answers: a hello, and the scanner's state for each mode.
            var buffer = [UInt8](repeating: 0, count: 512)
            var count = 0
            while count < 3 + modes.count * 5 {
                let more = read(descriptor, &buffer, buffer.count)
                guard more > 0 else { break }
                count += more
            }
            let isActive = modes.contains(1)
            try await eventually { !isActive || bench.hasReported("asks hall for active scanning") }
            #expect(isActive || !bench.hasReported("active scanning"))
        }
        #expect(bench.notices.withLock { $0.count { $0.contains("active scanning") } } == 1)
        await bench.server.stop()
    }

    @Test("A port that is in use is reported")
    func takenPort() async throws {
        let bench = try Bench()
        let other = try ProxyListener(port: bench.port, address: "127.0.0.1")
        bench.server.start()
        try await eventually { bench.hasReported("stop the program that uses it, or use another port") }
        other.close()
        await bench.server.stop()
        #expect(!bench.hasReported("is served"))
        try ProxyListener(port: bench.port, address: "127.0.0.1").close()
    }

    @Test("A client that reads nothing gets limited data and does not disturb other clients")
    func slowClient() async throws {
        let bench = try Bench()
        let feed = bench.server.feed(isLive: true)
        feed.update(names: ["hci0"], statuses: [ReceiverStatus(.poweredOn)])
        bench.server.start()
        try await eventually { bench.hasReported("is served") }
        let mute = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(mute) }
        var small: Int32 = 4096
        setsockopt(mute, SOL_SOCKET, SO_RCVBUF, &small, socklen_t(MemoryLayout<Int32>.size))
        let address = try #require(HostResolver.literal("127.0.0.1", port: bench.port))
        let isConnected = address.bytes.withUnsafeBytes {
            connect(mute, $0.baseAddress!.assumingMemoryBound(to: sockaddr.self), socklen_t($0.count))
        }
        #expect(isConnected == 0)
        // The hello and the subscription.
        let request: [UInt8] = [0, 6, 1, 10, 4, 115, 108, 111, 119, 0, 0, 66]
        #expect(send(mute, request, request.count, 0) == request.count)
        try await eventually { bench.hasReported("slow (127.0.0.1) has the adverts") }
        let listener = try Listener(bench.client())
        try await eventually { listener.states.withLock { $0.last == .poweredOn } }
        var sent = 0
        while !bench.hasReported("too slowly"), sent < 2_000_000 {
            for _ in 0..<1_000 { Self.hear(feed, rssi: -50) }
            sent += 1_000
            try await eventually { listener.heard.withLock { $0.count } == sent }
        }
        #expect(bench.hasReported("reads adverts too slowly; its oldest ones are dropped"))
        await listener.end()
        await bench.server.stop()
    }
}
