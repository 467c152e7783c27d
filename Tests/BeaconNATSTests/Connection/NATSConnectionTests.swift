import BeaconNATS
import BeaconSupport
import Foundation
import TestSupport
import Testing

@Suite("Connections to NATS", .fewAtATime)
struct NATSConnectionTests {
    @Test("Messages arrive in order, with all their parts")
    func delivery() async throws {
        let cluster = try await NATSCluster()
        let (connection, other) = (
            try await NATSConnection.made(cluster.url), try await NATSConnection.made(cluster.url)
        )
        let recorder = Recorder()
        try other.subscribe("hall.*", receive: recorder.receive)
        try await other.settle()
        for number in 0..<5000 { try connection.publish("\(number)", to: "hall.n") }
        try connection.publish([0, 255], to: "hall.b")
        try connection.publish([], to: "hall.e")
        try await eventually("all arrive") { recorder.messages.count == 5002 }
        #expect(recorder.texts.prefix(5000).elementsEqual((0..<5000).map { "\($0)" }))
        #expect(recorder.messages.suffix(2).map(\.subject) == ["hall.b", "hall.e"])
        #expect(recorder.messages.suffix(2).map(\.payload) == [[0, 255], []])
    }

    @Test("The connection is made when the server starts, and its absence is reported once")
    func serverComesLater() async throws {
        let cluster = try await NATSCluster(servers: 0)
        let recorder = Recorder()
        let connection = try NATSConnection(cluster.url, recorder)
        let messages = Recorder()
        try connection.subscribe("hall", receive: messages.receive)
        try await eventually("the failure is reported") { !recorder.events.isEmpty }
        #expect(recorder.errors.first?.code == .unreachable)
        #expect(!connection.isConnected)
        try await cluster.start(0)
        try await eventually("it is connected") { recorder.events == ["failed", "connected"] }
        try connection.publish("here", to: "hall")
        try await eventually("it arrives") { messages.texts == ["here"] }
    }

    @Test("After the server was killed the connection is made again, without messages published in between")
    func reconnection() async throws {
        let cluster = try await NATSCluster()
        let recorder = Recorder()
        let connection = try await NATSConnection.made(cluster.url, recorder)
        let messages = Recorder()
        let cancelled = Recorder()
        try connection.subscribe("hall", receive: messages.receive)
        let subscription = try connection.subscribe("hall", receive: cancelled.receive)
        try connection.publish("before", to: "hall")
        try await eventually("it arrives") { messages.texts == ["before"] && cancelled.texts == ["before"] }
        for round in 1...2 {
            cluster.kill(0)
            try await eventually("the loss is noticed") { !connection.isConnected }
            let error = #expect(throws: NATSError.self) { try connection.publish("stale", to: "hall") }
            #expect(error?.code == .notConnected)
            subscription.cancel()
            try await cluster.start(0)
            try await eventually("it is connected again") { connection.isConnected }
            try connection.publish("after \(round)", to: "hall")
            try await eventually("it arrives") { messages.texts.last == "after \(round)" }
        }
        #expect(messages.texts == ["before", "after 1", "after 2"])
        #expect(cancelled.texts == ["before"])
        #expect(recorder.events.filter { $0 == "disconnected" }.count == 2)
    }

    @Test("The connection uses the next server when one is killed")
    func nextServer() async throws {
        let cluster = try await NATSCluster(servers: 3)
        let recorder = Recorder()
        let connection = try await NATSConnection.made(cluster.url, recorder)
        // It is connected to the first server of the list.
        cluster.kill(0)
        try await eventually("it continues") { recorder.events == ["connected", "disconnected", "connected"] }
        try await connection.settle()
    }

    @Test("A frozen server is noticed")
    func silence() async throws {
        let cluster = try await NATSCluster()
        let recorder = Recorder()
        let connection = try await NATSConnection.made(cluster.url, recorder)
        cluster.pause(0)
        let start = ContinuousClock.now
        // More than the system buffers for a server that does not read: the writer waits, and then gets an error.
        let payload = [UInt8](repeating: 7, count: 500_000)
        while connection.isConnected { try? connection.publish(payload, to: "hall") }
        #expect(ContinuousClock.now - start < .hang)
        cluster.resume(0)
        try await eventually("it is connected again") { connection.isConnected }
    }

    @Test("A canceled subscription receives no more messages, even if canceled from its own closure")
    func cancellation() async throws {
        let cluster = try await NATSCluster()
        let connection = try await NATSConnection.made(cluster.url)
        let messages = Recorder()
        let held = Locked<NATSSubscription?>(nil)
        let subscription = try connection.subscribe("hall") { message in
            messages.receive(message)
            held.withLock { $0 }?.cancel()
        }
        held.withLock { $0 = subscription }
        try connection.publish("1", to: "hall")
        try connection.publish("2", to: "hall")
        try await connection.settle()
        try await eventually("the first arrived") { messages.texts == ["1"] }
        subscription.cancel()
        held.withLock { $0 = nil }
    }

    @Test("A receiver that is too slow is reported")
    func slowReceiver() async throws {
        let cluster = try await NATSCluster()
        let recorder = Recorder()
        let connection = try await NATSConnection.made(cluster.url, recorder)
        let gate = DispatchSemaphore(value: 0)
        let messages = Recorder()
        try connection.subscribe("hall", limit: (2, 1000)) { message in
            gate.wait()
            messages.receive(message)
        }
        for number in 0..<10 { try connection.publish("\(number)", to: "hall") }
        try await eventually("it is reported") { recorder.events.contains("dropped hall") }
        for _ in 0..<10 { gate.signal() }
        try await eventually("the first arrived") { messages.texts.first == "0" }
        #expect(messages.messages.count < 10)
    }

    @Test("Wrong credentials and missing permissions are reported")
    func credentials() async throws {
        let cluster = try await NATSCluster(
            servers: 1,
            #"authorization { users: [{ user: ann, password: "right", permissions: { publish: ["hall"] } }] }"#
        )
        let recorder = Recorder()
        let wrong = try NATSConnection(cluster.url(credentials: "ann:wrong@"), recorder)
        try await eventually("it is reported") { !recorder.events.isEmpty }
        #expect(recorder.errors.first?.code == .notAuthorized)
        #expect(recorder.errors.first?.description.contains("wrong") == false)
        wrong.close()
        try await eventually("it is closed") { recorder.events == ["failed", "closed"] }

        let permitted = Recorder()
        let right = try await NATSConnection.made(cluster.url(credentials: "ann:right@"), permitted)
        try right.publish("x", to: "hall")
        try right.publish("x", to: "forbidden")
        try await eventually("it is reported") { permitted.events == ["connected", "refused"] }
        #expect(permitted.errors.first?.code == .notAuthorized)
    }

    @Test("TLS verifies the configured authority and the host's name")
    func tls() async throws {
        let folder = try TemporaryFolder()
        func path(_ name: String) -> String { folder.url.appendingPathComponent(name).path }
        // A self-signed certificate for one of the server's two names.
        for name in ["server", "other"] {
            try ChildProcess.run(
                "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                "-days", "2", "-subj", "/CN=\(name)", "-addext", "subjectAltName=DNS:localhost", "-keyout",
                path("\(name).key"), "-out", path("\(name).pem"))
        }
        let cluster = try await NATSCluster(
            servers: 1, "tls { cert_file: \"\(path("server.pem"))\", key_file: \"\(path("server.key"))\" }")
        var options = NATSSettings(servers: ["tls://localhost:\(cluster.ports[0])"])
        options.authorityFile = path("server.pem")
        let connection = try NATSConnection(options)
        try await eventually("it is connected") { connection.isConnected }
        try await connection.settle()

        var wrong = [options, options, options]
        wrong[0].authorityFile = path("other.pem")
        wrong[1].authorityFile = nil
        wrong[2].servers = ["tls://127.0.0.1:\(cluster.ports[0])"]
        for options in wrong {
            let recorder = Recorder()
            let refused = try NATSConnection(options, report: recorder.record)
            try await eventually("it is reported") { !recorder.events.isEmpty }
            #expect(recorder.errors.first?.code == .tlsFailed)
            refused.close()
        }
        options.authorityFile = path("missing.pem")
        let recorder = Recorder()
        let refused = try NATSConnection(options, report: recorder.record)
        try await eventually("it is reported") { !recorder.events.isEmpty }
        #expect(recorder.errors.first?.code == .invalidSettings)
        refused.close()
    }

    @Test("Attempts continue after many refusals")
    func refusals() async throws {
        let cluster = try await NATSCluster(servers: 1, "authorization { token: \"new\" }")
        let recorder = Recorder()
        var options = try NATSSettings(cluster.url)
        options.token = Secret("old")
        let connection = try NATSConnection(options, report: recorder.record)
        let log = cluster.folder.url.appendingPathComponent("0.log")
        func refusals() -> Int {
            let text = (try? String(contentsOf: log, encoding: .utf8)) ?? ""
            return text.components(separatedBy: "authentication error").count - 1
        }
        try await eventually("it was refused three times") { refusals() >= 3 }
        #expect(recorder.events == ["failed"])
        connection.close()
    }

    @Test("A closed connection ends permanently, and reports this once")
    func closing() async throws {
        let cluster = try await NATSCluster()
        let recorder = Recorder()
        let connection = try await NATSConnection.made(cluster.url, recorder)
        let subscription = try connection.subscribe("hall") { _ in }
        connection.close()
        connection.close()
        subscription.cancel()
        try await eventually("it is reported") { recorder.events == ["connected", "closed"] }
        #expect(throws: NATSError.self) { try connection.publish("x", to: "hall") }
        #expect(throws: NATSError.self) { try connection.subscribe("hall") { _ in } }
        let error = await #expect(throws: NATSError.self) { try await connection.request([], to: "hall") }
        #expect(error?.code == .closed)
    }

    @Test("A connection ends with its last reference")
    func release() async throws {
        let cluster = try await NATSCluster()
        let recorder = Recorder()
        do {
            let connection = try await NATSConnection.made(cluster.url, recorder)
            try connection.subscribe("hall") { _ in }
        }
        try await eventually("it is reported") { recorder.events == ["connected", "closed"] }
    }

    @Test(
        "An invalid subject is refused", arguments: ["", "a b", "a\r\nPUB x 0", "a..b", ".a", "a.", "a.*", "a.>"])
    func subjects(subject: String) async throws {
        let connection = try NATSConnection("nats://127.0.0.1:\(try FreePort.find())")
        let error = #expect(throws: NATSError.self) { try connection.publish("x", to: subject) }
        #expect(error?.code == .invalidMessage)
    }
}
