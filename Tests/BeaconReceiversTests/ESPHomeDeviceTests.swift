import BeaconModel
import BeaconSupport
import Testing

@testable import BeaconReceivers

@Suite("A device of ESPHome")
struct ESPHomeDeviceTests {
    private static let key = (0..<32).map { UInt8($0) }

    /// A device and one of its clients, with the bytes between them.
    private struct Bench {
        var client: ESPHomeClient
        var device: ESPHomeDevice
        var events: [ESPHomeClient.Event] = []
        var heard: [String] = []
        var clientError: ESPHomeError?
        var deviceError: ESPHomeError?
        var now = NetworkBench.time(1000)

        init(
            clientKey: [UInt8]? = nil, deviceKey: [UInt8]? = nil, scanner: ESPHomeDevice.Scanner = .running,
            inPiecesOf size: Int = 1 << 20
        ) throws {
            client = try ESPHomeClient(key: clientKey, mayTake: false, at: now)
            device = try ESPHomeDevice(ESPHomeDeviceTests.identity(key: deviceKey), scanner: scanner, at: now)
            exchange(inPiecesOf: size)
        }

        /// Exchanges bytes in pieces of a size until both sides are silent.
        mutating func exchange(inPiecesOf size: Int = 1 << 20) {
            while true {
                let (toDevice, toClient) = (client.takeOutput(), device.takeOutput())
                if toDevice.isEmpty, toClient.isEmpty { return }
                for piece in Self.pieces(of: toDevice, size) where deviceError == nil {
                    deviceError = device.receive(piece.span.bytes, at: now)
                }
                for piece in Self.pieces(of: toClient, size) where clientError == nil { feedClient(piece) }
            }
        }

        private static func pieces(of bytes: [UInt8], _ size: Int) -> [[UInt8]] {
            stride(from: 0, to: bytes.count, by: size).map { Array(bytes[$0..<min($0 + size, bytes.count)]) }
        }

        private mutating func feedClient(_ bytes: [UInt8]) {
            var (events, heard): ([ESPHomeClient.Event], [String]) = ([], [])
            clientError = client.receive(
                bytes.span.bytes, at: now, deliver: { heard.append("\($0) \($1) \($2.byteCount)") },
                report: { events.append($0) })
            self.events += events
            self.heard += heard
        }

        mutating func sendAdverts(_ count: Int) throws {
            var content: [UInt8] = []
            for number in 0..<count {
                ESPHomeAdverts.append(
                    address: DeviceAddress(bits: UInt64(number + 1), kind: .random), rssi: -number, advert: [2, 1, 6],
                    to: &content)
            }
            try device.send(adverts: content)
            exchange()
        }
    }

    private static func identity(key: [UInt8]? = nil) -> ESPHomeDevice.Identity {
        ESPHomeDevice.Identity(
            name: "hall", title: "The hall", address: DeviceAddress(bits: 0x02AA_BBCC_DDEE, kind: .public),
            project: ESPHomeDevice.radioProject, key: key)
    }

    @Test(
        "A client identifies the device, subscribes and gets its adverts, plain and encrypted, in pieces of any size",
        arguments: [
            1, 2, 3, 7, 64, 1 << 20,
        ])
    func adverts(size: Int) throws {
        for key in [nil, Self.key] {
            var bench = try Bench(clientKey: key, deviceKey: key, inPiecesOf: size)
            #expect(bench.clientError == nil && bench.deviceError == nil)
            guard case .met(let device) = bench.events.first else {
                Issue.record("the client did not identify it: \(bench.events)")
                continue
            }
            #expect(device.name == "hall" && device.address == "02:AA:BB:CC:DD:EE")
            // Home Assistant shows both, with a space in front if the first one is missing.
            #expect(device.projectVersion == ProgramVersion.current && device.version == ESPHomeDevice.version)
            #expect(device.project == ESPHomeDevice.radioProject && device.sendsAdverts && device.reportsState)
            // A subscription takes the adverts away from no other client.
            #expect(!device.isTakenOver && bench.events.contains(.subscribed(isScanning: true)))
            #expect(bench.device.client == "swift-beacon" && bench.device.isSubscribed)
            try bench.sendAdverts(16)
            #expect(bench.heard.count == 16 && bench.heard.first == "00:00:00:00:00:01 0 3")
        }
    }

    @Test("A client without a subscription gets no adverts")
    func unsubscribed() throws {
        var bench = try Bench()
        bench.client.want(false)
        bench.exchange()
        try bench.sendAdverts(2)
        #expect(bench.heard.isEmpty && !bench.device.isSubscribed)
        var other = try Bench()
        try other.sendAdverts(2)
        #expect(other.heard.count == 2)
    }

    @Test("A client is notified once when the scanner stops, and once when it runs again")
    func scanner() throws {
        var bench = try Bench(scanner: .failed)
        #expect(bench.events.contains(.subscribed(isScanning: false)))
        bench.events = []
        for scanner in [ESPHomeDevice.Scanner.failed, .running, .running, .failed] {
            try bench.device.set(scanner)
            bench.exchange()
        }
        #expect(bench.events == [.subscribed(isScanning: true), .subscribed(isScanning: false)])
    }

    @Test("A missing, wrong or unnecessary key is reported to the client and ends the connection")
    func keys() throws {
        let missing = try Bench(deviceKey: Self.key)
        #expect(missing.clientError?.code == .keyNeeded && missing.deviceError?.code == .plainDevice)
        let wrong = try Bench(clientKey: Array(Self.key.reversed()), deviceKey: Self.key)
        #expect(wrong.clientError?.code == .wrongKey && wrong.deviceError?.code == .wrongKey)
        let needless = try Bench(clientKey: Self.key)
        #expect(needless.deviceError != nil && needless.clientError != nil)
    }

    @Test("A silent client is pinged after a minute, and disconnected after two and a half")
    func silence() throws {
        var bench = try Bench()
        let start = bench.now
        #expect(bench.device.deadline == start.advanced(by: 60_000_000_000))
        #expect(bench.device.advance(to: start.advanced(by: 59_000_000_000)) == nil)
        #expect(bench.device.takeOutput().isEmpty)
        #expect(bench.device.advance(to: start.advanced(by: 60_000_000_000)) == nil)
        #expect(bench.device.takeOutput() == [0, 0, 7])
        #expect(bench.device.advance(to: start.advanced(by: 149_000_000_000)) == nil)
        #expect(bench.device.takeOutput().isEmpty)
        #expect(bench.device.advance(to: start.advanced(by: 150_000_000_000))?.code == .ended)
        // A client that never sends a hello has less time.
        let mute = try ESPHomeDevice(Self.identity(), scanner: .running, at: start)
        #expect(mute.deadline == start.advanced(by: 15_000_000_000))
    }

    @Test(
        "Requests get the firmware's answers, and an error if they need a connection",
        arguments: [
            // Kind and content, then kind and content of the answer.
            (7, [], 8, []), (11, [], 19, []), (80, [], 81, []), (5, [], 6, []), (3, [], 4, []),
            (127, [8, 1], 126, [8, 2]),
            (68, [8, 5, 16, 1], 69, [8, 5, 32, 6]),
            (73, [8, 5, 16, 9], 82, [8, 5, 16, 9, 24, 6]), (70, [8, 5], 82, [8, 5, 24, 6]),
        ] as [(UInt8, [UInt8], UInt8, [UInt8])])
    func requests(kind: UInt8, content: [UInt8], answer: UInt8, answered: [UInt8]) throws {
        var bench = try Bench()
        let request: [UInt8] = [0, UInt8(content.count), kind] + content
        let error = bench.device.receive(request.span.bytes, at: bench.now)
        #expect((error != nil) == (kind == 5))
        #expect(bench.device.takeOutput() == [0, UInt8(answered.count), answer] + answered)
    }

    @Test("Unknown messages are ignored, and messages before the hello end the connection")
    func strangers() throws {
        var bench = try Bench()
        for kind in [20, 28, 34, 38, 36, 37, 8, 100, 120] as [UInt8] {
            let request: [UInt8] = [0, 2, kind, 8, 1]
            let error = bench.device.receive(request.span.bytes, at: bench.now)
            #expect(error == nil && bench.device.takeOutput().isEmpty)
        }
        var fresh = try ESPHomeDevice(Self.identity(), scanner: .running, at: bench.now)
        let early: [UInt8] = [0, 0, 66]
        let error = fresh.receive(early.span.bytes, at: bench.now)
        #expect(error?.code == .damaged && !fresh.isSubscribed)
        let web = Array("GET / HTTP/1.1\r\n\r\n".utf8)
        var other = try ESPHomeDevice(Self.identity(), scanner: .running, at: bench.now)
        let damage = other.receive(web.span.bytes, at: bench.now)
        #expect(damage?.code == .damaged)
    }
}

@Suite("Announcements of devices by multicast DNS")
struct ServiceAnnouncementTests {
    private static let address: [UInt8] = [192, 168, 1, 7]

    private static func announcement(_ names: [String] = ["hall"]) -> ServiceAnnouncement {
        var announcement = ServiceAnnouncement()
        announcement.services = names.enumerated().map { index, name in
            ServiceAnnouncement.Service(
                ESPHomeDevice.Identity(
                    name: name, title: "The \(name)", address: DeviceAddress(bits: 0x02AA_BBCC_DDEE, kind: .public),
                    project: ESPHomeDevice.radioProject), port: 6053 + UInt16(index))
        }
        return announcement
    }

    private static func answers(
        _ question: [UInt8], _ announcement: ServiceAnnouncement = announcement(), from port: UInt16 = 5353
    ) -> ServiceAnnouncement.Answers? {
        announcement.answers(to: question.span.bytes, from: port, addresses: [address])
    }

    @Test("A device that the user named is found after 2 000 invented ones")
    func named() throws {
        let browser = ServiceBrowser(all: true, hosts: [], reserved: ["kitchen"], at: .zero)
        for name in (0..<2000).map({ "invented\($0)" }) + ["kitchen"] {
            let answers = try #require(Self.answers(ServiceQuestion.all, Self.announcement([name]), from: 4711))
            for message in answers.messages {
                let answer = ServiceAnswer(message.span.bytes)
                browser.note(try #require(answer), at: .zero)
            }
        }
        #expect(browser.services.count == 1025 && browser.address(of: "kitchen.local") == Self.address)
        let found = try #require(browser.services.first { $0.value.host == "kitchen.local" })
        #expect(browser.isReserved(found.key) && !browser.isReserved("invented1._esphomelib._tcp.local"))
    }

    @Test("A question for all devices is answered with the name, port and address of each")
    func all() throws {
        let answers = try #require(
            Self.answers(ServiceQuestion.all, Self.announcement(["hall", "cellar"]), from: 4711))
        #expect(answers.isUnicast && answers.messages.count == 2)
        for (message, (name, port)) in zip(answers.messages, [("hall", 6053), ("cellar", 6054)] as [(String, UInt16)]) {
            let read = ServiceAnswer(message.span.bytes)
            let answer = try #require(read)
            #expect(answer.services == ["\(name)._esphomelib._tcp.local": .init(host: "\(name).local", port: port)])
            #expect(answer.addresses == ["\(name).local": Self.address])
        }
    }

    @Test("A question for a host is answered with its address, ignoring case")
    func host() throws {
        let answers = try #require(Self.answers(ServiceQuestion.address(of: "HALL.local")))
        let message = answers.messages[0]
        let read = ServiceAnswer(message.span.bytes)
        let answer = try #require(read)
        #expect(answer.addresses == ["hall.local": Self.address] && answer.services.isEmpty)
        #expect(Self.answers(ServiceQuestion.address(of: "kitchen.local")) == nil)
    }

    @Test("A legacy client gets its number and question back, and short lifetimes")
    func legacy() throws {
        var question = ServiceQuestion.address(of: "hall.local")
        question[0] = 0x12
        question[1] = 0x34
        let message = try #require(Self.answers(question, from: 40_000)).messages[0]
        // The number, the flags, one question and one answer.
        #expect(Array(message.prefix(8)) == [0x12, 0x34, 0x84, 0, 0, 1, 0, 1])
        // Class and lifetime of the answer, which has 14 bytes before its data of six.
        #expect(Array(message.suffix(12).prefix(6)) == [0, 1, 0, 0, 0, 10])
        let common = try #require(Self.answers(question)).messages[0]
        #expect(Array(common.prefix(8)) == [0, 0, 0x84, 0, 0, 0, 0, 1])
        #expect(Array(common.suffix(12).prefix(6)) == [0x80, 1, 0, 0, 0, 120])
    }

    @Test("A known answer is not sent again")
    func known() throws {
        let all = try #require(Self.answers(ServiceQuestion.all)).messages[0]
        // The question, then the first answer of the message.
        let pointer =
            [UInt8](name: "_esphomelib._tcp.local") + [0, 12, 0, 1, 0, 0, 0x11, 0x94, 0, 29]
            + [UInt8](name: "hall._esphomelib._tcp.local")
        var question = ServiceQuestion.all
        question[7] = 1
        #expect(Self.answers(question + pointer) == nil)
        #expect(all.count > pointer.count)
        // Less than half of its lifetime is left.
        var old = pointer
        old[pointer.count - 29 - 4] = 0x01
        #expect(Self.answers(question + old) != nil)
    }

    @Test("A device announces its end, and detects another device of its name")
    func endAndConflict() throws {
        let ours = Self.announcement()
        let end = ours.messages(addresses: [Self.address], isEnd: true)
        #expect(end.count == 1 && end[0].suffix(10).prefix(4) == [0, 0, 0, 0])
        let first = end[0]
        let ended = ours.conflict(in: first.span.bytes, addresses: [Self.address])
        #expect(ended == nil)
        var other = Self.announcement()
        other.services[0].port = 7000
        let message = other.messages(addresses: [[10, 0, 0, 1]])[0]
        let conflict = ours.conflict(in: message.span.bytes, addresses: [Self.address])
        #expect(conflict == "hall")
        // The same name and port on another machine.
        let same = ours.messages(addresses: [[10, 0, 0, 1]])[0]
        let twin = ours.conflict(in: same.span.bytes, addresses: [Self.address])
        let own = ours.conflict(in: same.span.bytes, addresses: [Self.address, [10, 0, 0, 1]])
        #expect(twin == "hall" && own == nil)
    }

    @Test("Damaged and random questions are ignored")
    func damage() {
        var random = SplitMix64(seed: 7)
        let question = ServiceQuestion.all
        for _ in 0..<5_000 {
            var bytes = question
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            bytes = Array(bytes.prefix(Int.random(in: 0...bytes.count, using: &random)))
            _ = Self.answers(bytes)
        }
        #expect(Self.answers([]) == nil)
    }
}
