import BeaconNATS
import BeaconSupport
import TestSupport
import Testing

@Suite("Requests over NATS", .fewAtATime)
struct NATSRequestTests {
    @Test("A request receives its answer, among many others")
    func answers() async throws {
        let cluster = try await NATSCluster()
        let (client, server) = (try await NATSConnection.made(cluster.url), try await NATSConnection.made(cluster.url))
        try server.subscribe("double") { message in
            guard let reply = message.reply else { return }
            let header = Array((message.headers["Kind"] ?? "").utf8)
            try? server.publish(header + message.payload + message.payload, to: reply)
        }
        try await server.settle()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<200 {
                group.addTask {
                    let text = Array("\(number) ".utf8)
                    let answer = try await client.request(text, headers: ["Kind": "k"], to: "double")
                    #expect(answer.payload == Array("k".utf8) + text + text)
                }
            }
            try await group.waitForAll()
        }
    }

    @Test("A request fails without a subscriber, without an answer, and if it is canceled")
    func failures() async throws {
        let cluster = try await NATSCluster()
        let client = try await NATSConnection.made(cluster.url)
        let nobody = await #expect(throws: NATSError.self) { try await client.request([], to: "nobody") }
        #expect(nobody?.code == .noResponders)

        let asked = Recorder()
        try client.subscribe("mute", receive: asked.receive)
        let late = await #expect(throws: NATSError.self) {
            try await client.request([], to: "mute", within: .milliseconds(50))
        }
        #expect(late?.code == .timedOut)

        let task = Task { try await client.request([], to: "mute", within: .hang) }
        try await eventually("the requests arrive") { asked.messages.count == 2 }
        task.cancel()
        let cancelled = await #expect(throws: NATSError.self) { try await task.value }
        #expect(cancelled?.code == .cancelled)
    }

    @Test("A request fails when the connection is lost, and at once without a connection")
    func disconnection() async throws {
        let cluster = try await NATSCluster()
        let client = try await NATSConnection.made(cluster.url)
        let asked = Recorder()
        try client.subscribe("mute", receive: asked.receive)
        let task = Task { try await client.request([], to: "mute", within: .hang) }
        try await eventually("the request arrives") { asked.messages.count == 1 }
        cluster.kill(0)
        let lost = await #expect(throws: NATSError.self) { try await task.value }
        #expect(lost?.code == .notConnected)
        let none = await #expect(throws: NATSError.self) { try await client.request([], to: "mute", within: .hang) }
        #expect(none?.code == .notConnected)
    }

    @Test("A request fails when this program closes the connection")
    func closing() async throws {
        let cluster = try await NATSCluster()
        let client = try await NATSConnection.made(cluster.url)
        let asked = Recorder()
        try client.subscribe("mute", receive: asked.receive)
        let task = Task { try await client.request([], to: "mute", within: .hang) }
        try await eventually("the request arrives") { asked.messages.count == 1 }
        client.close()
        let closed = await #expect(throws: NATSError.self) { try await task.value }
        #expect(closed?.code == .closed)
    }
}
