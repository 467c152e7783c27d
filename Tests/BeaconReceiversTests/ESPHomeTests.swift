import BeaconModel
import BeaconNoise
import BeaconSupport
import Testing

@testable import BeaconReceivers

@Suite("Bluetooth proxies of ESPHome")
struct ESPHomeTests {
    private static let key = (0..<32).map { UInt8($0) }

    /// A device with a proxy that behaves like its firmware, and a client, with the bytes between them.
    private struct Bench {
        var client: ESPHomeClient
        var device: ESPHomeFraming
        /// The kinds of the requests to the device.
        var asked: [Int] = []
        var events: [ESPHomeClient.Event] = []
        var heard: [String] = []
        var failure: ESPHomeError?
        var version: String
        var features: UInt64
        /// True while this client is subscribed, and while another client is.
        var isSubscribed = false
        var hasOther: Bool
        var isMute = false
        var waiting: [UInt8] = []
        /// False for a device without connections.
        let answersQuestions: Bool
        var now = NetworkBench.time(1000)

        init(
            clientKey: [UInt8]? = nil, deviceKey: [UInt8]? = nil, version: String = "2026.6.0",
            features: UInt64 = 0x7F, mayTake: Bool = false, hasOther: Bool = false,
            answersQuestions: Bool = true
        ) throws {
            self.answersQuestions = answersQuestions
            client = try ESPHomeClient(key: clientKey, mayTake: mayTake, at: now)
            device = try ESPHomeFraming(.responder, key: deviceKey, name: "hall", address: "aabbccddeeff")
            self.version = version
            self.features = features
            self.hasOther = hasOther
            exchange()
        }

        /// Exchanges bytes in pieces of a size until both sides are silent.
        mutating func exchange(inPiecesOf size: Int = 1 << 20) {
            while failure == nil {
                let toDevice = client.takeOutput()
                for piece in stride(from: 0, to: toDevice.count, by: size) {
                    feedDevice(Array(toDevice[piece..<min(piece + size, toDevice.count)]))
                }
                let toClient = device.takeOutput()
                if toClient.isEmpty, toDevice.isEmpty { return }
                for piece in stride(from: 0, to: toClient.count, by: size) where failure == nil {
                    feedClient(Array(toClient[piece..<min(piece + size, toClient.count)]))
                }
            }
        }

        private mutating func feedDevice(_ bytes: [UInt8]) {
            // A network delivers later what it cannot deliver now.
            waiting += bytes
            guard !isMute else { return }
            let bytes = waiting
            waiting = []
            var kinds: [Int] = []
            _ = device.receive(bytes.span.bytes) { kind, _ in kinds.append(kind) }
            for kind in kinds {
                asked.append(kind)
                answer(kind)
            }
        }

        private mutating func answer(_ kind: Int) {
            switch kind {
            case 1: send(2, [])
            case 3: send(4, [])
            case 7: send(8, [])
            case 9:
                var info: [UInt8] = []
                info.append(field: 2, "hall")
                info.append(field: 4, version)
                info.append(field: 15, features)
                send(10, info)
            case 66:
                let parts = version.split(separator: ".").compactMap { Int($0) }
                if hasOther, (parts[0], parts[1]) < (2026, 7) { return }
                hasOther = false
                isSubscribed = true
                sendState()
            case 73:
                // The error for the probe, which only the subscribed client gets.
                guard isSubscribed, answersQuestions else { return }
                var content: [UInt8] = []
                content.append(field: 1, 0xFFFF_FFFF_FFFF)
                content.append(field: 2, 1)
                content.append(field: 3, 5)
                send(82, content)
            case 87: isSubscribed = false
            default: break
            }
        }

        mutating func sendState(_ state: UInt64 = 2) {
            guard features & 1 << 6 != 0 else { return }
            var content: [UInt8] = []
            content.append(field: 1, state)
            content.append(field: 2, 1)
            send(126, content)
        }

        mutating func send(_ kind: UInt16, _ content: [UInt8]) {
            try? device.send(ESPHomeMessage(rawValue: kind), content)
        }

        mutating func sendAdvert(rssi: Int = -70) {
            var content: [UInt8] = []
            var bytes = [UInt8](repeating: 0, count: 30)
            bytes.withUnsafeMutableBytes { NetworkBench.frame.write(to: $0) }
            ESPHomeAdverts.append(
                address: DeviceAddress(bits: 0xC000_0000_0001, kind: .random), rssi: rssi, advert: bytes, to: &content)
            ESPHomeAdverts.append(
                address: DeviceAddress(bits: 0xC000_0000_0002, kind: .public), rssi: -90, advert: [2, 1, 6],
                to: &content)
            send(93, content)
        }

        mutating func feedClient(_ bytes: [UInt8]) {
            var events: [ESPHomeClient.Event] = []
            var heard: [String] = []
            failure = client.receive(
                bytes.span.bytes, at: now,
                deliver: { address, rssi, advert in
                    heard.append(
                        "\(address) \(address.kind) \(rssi) \(IBeaconFrame(advert: advert)?.identity.minor ?? 0)")
                }, report: { events.append($0) })
            self.events += events
            self.heard += heard
        }

        mutating func pass(_ seconds: Double) {
            var left = Int((seconds * 10).rounded())
            while left > 0, failure == nil {
                left -= 1
                now = now.advanced(by: 100_000_000)
                var events: [ESPHomeClient.Event] = []
                failure = client.advance(to: now) { events.append($0) }
                self.events += events
                exchange()
            }
        }
    }

    @Test(
        "Adverts arrive, plain and encrypted, in pieces of any size",
        arguments: [nil, key] as [[UInt8]?], [1, 2, 3, 7, 1000])
    func adverts(key: [UInt8]?, size: Int) throws {
        var bench = try Bench(clientKey: key, deviceKey: key)
        #expect(bench.events.last == .subscribed(isScanning: true) && bench.asked == [1, 3, 9, 66])
        for _ in 0..<3 { bench.sendAdvert() }
        bench.exchange(inPiecesOf: size)
        #expect(
            bench.heard
                == Array(repeating: ["c0:00:00:00:00:01 random -70 2", "c0:00:00:00:00:02 public -90 0"], count: 3)
                .flatMap(\.self))
        #expect(bench.failure == nil)
    }

    @Test("A missing, wrong or unnecessary key is reported with a remedy")
    func keys() throws {
        #expect(try Bench(deviceKey: Self.key).failure?.code == .keyNeeded)
        #expect(try Bench(clientKey: Self.key).failure?.code == .plainDevice)
        #expect(try Bench(clientKey: Self.key.reversed(), deviceKey: Self.key).failure?.code == .wrongKey)
    }

    @Test("A device without a proxy and a device that is too old are reported")
    func others() throws {
        #expect(try Bench(features: 0).failure?.code == .noProxy)
        let old = try Bench(version: "2022.12.0\u{1B}[31m", features: 0x1F)
        #expect(old.failure?.code == .tooOld && old.failure?.message.contains("ESPHome 2022.12.0") == true)
        #expect(old.failure?.message.contains("\u{1B}") == false)
        #expect(old.events.isEmpty)
    }

    @Test("The client does not take adverts from another program, unless it is allowed to")
    func taking() throws {
        for version in ["2026.7.0", "2026.11.2", "2027.1.0-dev", "", "x"] {
            let bench = try Bench(version: version)
            #expect(bench.events.last == .wouldTake && !bench.asked.contains(66), "\(version)")
        }
        let taking = try Bench(version: "2026.7.0", mayTake: true, hasOther: true)
        #expect(taking.events.contains(.subscribed(isScanning: true)) && !taking.hasOther)
    }

    @Test("A device whose adverts another client has is asked again later")
    func refusal() throws {
        var bench = try Bench(hasOther: true)
        bench.pass(9.9)
        #expect(!bench.events.contains(.refused))
        bench.pass(0.3)
        #expect(bench.events.last == .refused)
        bench.hasOther = false
        // An hour would not be too long, but not at once: the other program may be restarting.
        bench.pass(280)
        #expect(!bench.isSubscribed)
        bench.pass(21)
        #expect(bench.events.contains(.subscribed(isScanning: true)) && bench.isSubscribed)
    }

    @Test("The client notices within seconds that another program took its adverts, and does not take them back")
    func loss() throws {
        var bench = try Bench(version: "2026.7.0", mayTake: true)
        bench.pass(3)
        #expect(bench.asked.contains(73) && bench.events.allSatisfy { $0 != .lost })
        // It may be silent for a long time while it has them.
        bench.pass(60)
        #expect(bench.events.allSatisfy { $0 != .lost })
        bench.isSubscribed = false
        let count = bench.asked.count { $0 == 66 }
        bench.pass(8)
        #expect(bench.events.last == .lost)
        bench.pass(60)
        #expect(bench.asked.count { $0 == 66 } == count && bench.failure == nil)
        // The adverts arrive again: the other program has disconnected.
        bench.sendAdvert()
        bench.exchange()
        #expect(bench.events.last == .subscribed(isScanning: true))
    }

    @Test("A silent device that answers is alive; a new device must also answer the probe")
    func silence() throws {
        var bench = try Bench()
        let count = bench.events.count
        bench.pass(5)
        #expect(bench.events.count > count + 8 && bench.events.dropFirst(count).allSatisfy { $0 == .alive })
        var new = try Bench(version: "2026.7.0", mayTake: true)
        new.pass(5)
        #expect(new.events.contains(.alive))
        new.sendState(3)
        new.exchange()
        #expect(new.events.last == .subscribed(isScanning: false))
        // A device that does not answer the probe shows only by adverts that this client has them. It never counts as
        // taken.
        var quiet = try Bench(version: "2026.7.0", mayTake: true, answersQuestions: false)
        quiet.events = []
        quiet.pass(60)
        #expect(quiet.events.allSatisfy { $0 == .alive } && quiet.events.count <= 1)
        // Nor does a device that does not report its scanner's state.
        var old = try Bench(version: "2024.6.0", features: 0x3F)
        old.sendAdvert()
        old.exchange()
        #expect(old.events.last == .subscribed(isScanning: true))
        let seen = old.events.count
        old.pass(60)
        #expect(old.events.count == seen)
    }

    @Test("A device that could not send for a while is reported, since it drops adverts that it cannot send")
    func stall() throws {
        var bench = try Bench()
        bench.pass(5)
        bench.isMute = true
        bench.pass(6)
        #expect(!bench.events.contains { if case .stalled = $0 { true } else { false } })
        bench.isMute = false
        bench.pass(0.5)
        let since = bench.events.compactMap { if case .stalled(let since) = $0 { since } else { nil } }
        let first = try #require(since.first)
        #expect(since.count == 1 && (5.5...6.9).contains(Double(bench.now.since(first)) / 1e9))
    }

    @Test("The client unsubscribes while no adverts are wanted")
    func wanting() throws {
        var bench = try Bench()
        bench.client.want(false)
        bench.exchange()
        #expect(bench.asked.last == 87 && !bench.isSubscribed)
        bench.pass(30)
        #expect(!bench.isSubscribed && bench.failure == nil)
        bench.client.want(true)
        bench.pass(0.2)
        #expect(bench.isSubscribed)
        // Adverts that are still on their way are not the answer to a subscription.
        for version in ["2026.6.0", "2026.7.0"] {
            bench = try Bench(version: version, mayTake: true)
            bench.sendAdvert()
            bench.sendState()
            bench.client.want(false)
            bench.exchange()
            #expect(!bench.isSubscribed)
            bench.events = []
            bench.client.want(true)
            bench.pass(0.2)
            #expect(bench.isSubscribed && bench.events.contains(.subscribed(isScanning: true)))
        }
    }

    @Test("A device that cannot be reached for a while has not lost its subscription")
    func dropout() throws {
        var bench = try Bench(version: "2026.7.0", mayTake: true)
        bench.pass(5)
        bench.isMute = true
        bench.pass(12)
        #expect(!bench.events.contains(.lost) && bench.failure == nil)
        bench.isMute = false
        bench.pass(10)
        #expect(!bench.events.contains(.lost) && bench.events.last == .alive)
    }

    @Test("A device that is silent for 15 s is disconnected; a disconnect request is answered")
    func ends() throws {
        var bench = try Bench()
        #expect(bench.client.deadline.since(bench.now) > 0)
        bench.isMute = true
        bench.pass(14.9)
        #expect(bench.failure == nil)
        bench.pass(0.2)
        #expect(bench.failure?.code == .ended)
        var other = try Bench()
        other.send(5, [])
        other.exchange()
        #expect(other.failure?.code == .ended)
        // A device that accepts a connection and then stays silent does not cause a busy loop.
        let mute = try ESPHomeClient(key: nil, mayTake: false, at: NetworkBench.time(1000))
        #expect(mute.deadline == NetworkBench.time(1015))
    }

    @Test("Random bytes end the connection or are ignored, and never trap")
    func hostile() throws {
        var random = SplitMix64(seed: 14)
        for round in 0..<2000 {
            var bench = try Bench()
            bench.sendAdvert()
            bench.sendState()
            var bytes = bench.device.takeOutput()
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                bytes[.random(in: 0..<bytes.count, using: &random)] = .random(in: .min ... .max, using: &random)
            }
            if round % 2 == 0 { bytes.removeLast(.random(in: 0..<bytes.count, using: &random)) }
            bench.feedClient(bytes)
            bench.pass(1)
        }
        var endless = try Bench()
        endless.feedClient([0, 0xFF, 0xFF, 0xFF, 0xFF])
        #expect(endless.failure?.code == .damaged)
        var huge = try Bench()
        huge.feedClient([0, 0xFF, 0xFF, 0x7F, 93])
        #expect(huge.failure?.code == .damaged)
    }

    // An answer in the form that Debian's avahi sends, with compressed names (RFC 1035).
    @Test("Multicast DNS finds a device and its address")
    func discovery() throws {
        let question = ServiceQuestion.all
        #expect(question.prefix(12) == [0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0])
        let labels = ["_esphomelib", "_tcp", "local"].flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) }
        #expect(Array(question.dropFirst(12)) == labels + [0, 0, 12, 0x80, 1])
        var bytes: [UInt8] = [0, 0, 0x84, 0, 0, 0, 0, 1, 0, 0, 0, 2]
        // The positions of the service's name and of "local" within it.
        let service = bytes.count
        bytes += Array(question.dropFirst(12).dropLast(4)) + [0, 12, 0, 1, 0, 0, 0, 120, 0, 7, 4]
        let device = bytes.count - 1
        bytes += Array("hall".utf8) + [0xC0, UInt8(service)]
        bytes += [0xC0, UInt8(device), 0, 33, 0x80, 1, 0, 0, 0, 120, 0, 13, 0, 0, 0, 0, 0x17, 0xA5, 4]
        let host = bytes.count - 1
        bytes += Array("Hall".utf8) + [0xC0, UInt8(service + 17)]
        bytes += [0xC0, UInt8(host), 0, 1, 0x80, 1, 0, 0, 0, 120, 0, 4, 10, 1, 2, 3]
        let found = ServiceAnswer(bytes.span.bytes)
        let answer = try #require(found)
        #expect(answer.services == ["hall._esphomelib._tcp.local": .init(host: "hall.local", port: 6053)])
        #expect(answer.addresses == ["hall.local": [10, 1, 2, 3]])
        var random = SplitMix64(seed: 5)
        for _ in 0..<5000 {
            var other = bytes
            other[.random(in: 0..<bytes.count, using: &random)] = .random(in: .min ... .max, using: &random)
            other.removeLast(.random(in: 0...4, using: &random))
            _ = ServiceAnswer(other.span.bytes)
        }
        // A name that refers to itself.
        let circle: [UInt8] = [0, 0, 0x84, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0xC0, 12, 0, 1, 0, 1]
        let isCircle = ServiceAnswer(circle.span.bytes) != nil
        let isQuestion = ServiceAnswer(question.span.bytes) != nil
        #expect(!isCircle && !isQuestion)
    }
}
