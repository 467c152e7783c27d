import BeaconBroker
import BeaconModel
import BeaconSupport
import Foundation
import Testing

@testable import BeaconRelay

@Suite("The queues of a relay")
struct RelayQueueTests {
    /// A connection that sends messages when the test decides it.
    private final class Connection: Sendable {
        let waiting = Locked<[(payload: [UInt8], done: @Sendable (RelayQueue.Outcome) -> Void)]>([])
        let reports = Locked<[String]>([])

        func queue() -> RelayQueue {
            RelayQueue(report: { text in self.reports.withLock { $0.append(text) } }) { payload, done in
                self.waiting.withLock { $0.append((payload, done)) }
            }
        }

        /// Completes messages with an outcome.
        func take(_ count: Int, _ outcome: RelayQueue.Outcome = .sent) -> [[UInt8]] {
            let taken = waiting.withLock { waiting in
                defer { waiting.removeFirst(min(count, waiting.count)) }
                return Array(waiting.prefix(count))
            }
            for one in taken { one.done(outcome) }
            return taken.map(\.payload)
        }
    }

    @Test("Without a connection the newest messages wait; older ones are dropped, counted and reported")
    func backPressure() {
        let connection = Connection()
        let queue = connection.queue()
        for number in 0..<100 { queue.add(.init(payload: [UInt8(number)], adverts: 3)) }
        #expect(queue.counts.dropped == 60 * 3 && connection.take(1).isEmpty)
        queue.setConnected(true)
        #expect(connection.waiting.withLock { $0.count } == 16)
        #expect(connection.take(2) == [[60], [61]])
        #expect(connection.reports.withLock { $0.count } == 1)
        var rest: [[UInt8]] = []
        while case let more = connection.take(1), !more.isEmpty { rest += more }
        #expect(rest.count == 38 && queue.counts.messages == 40 && queue.counts.adverts == 120)
    }

    @Test("Messages wait for a stalled broker, and a lost connection loses the messages that are being sent")
    func loss() {
        let connection = Connection()
        let queue = connection.queue()
        queue.setConnected(true)
        for number in 0..<100 { queue.add(.init(payload: [UInt8(number)], adverts: 1)) }
        // 16 are being sent, 40 wait.
        #expect(queue.counts.dropped == 44)
        // Before the connection is reported as lost: nothing more is submitted.
        #expect(connection.take(100, .disconnected).count == 16 && queue.counts.dropped == 60)
        #expect(connection.take(1).isEmpty)
        queue.add(.init(payload: [100], adverts: 1))
        #expect(connection.take(1).isEmpty && queue.counts.dropped == 61)
        queue.setConnected(true)
        #expect(connection.take(1) == [[61]])
        // The first loss is reported at once, others at most once a minute.
        #expect(connection.reports.withLock { $0.count } == 1)
        #expect(connection.reports.withLock { $0 }.first?.hasPrefix("1 adverts were dropped") == true)
    }

    @Test("Long messages count by their bytes, and the newest message always fits")
    func bytes() {
        let connection = Connection()
        let queue = connection.queue()
        for number in 0..<5 { queue.add(.init(payload: [UInt8](repeating: UInt8(number), count: 3 << 20), adverts: 1)) }
        queue.add(.init(payload: [UInt8](repeating: 9, count: 9 << 20), adverts: 1))
        queue.add(.init(payload: [1], adverts: 1))
        queue.setConnected(true)
        #expect(connection.take(10) == [[1]] && queue.counts.dropped == 6)
    }

    @Test("A queue is drained once everything is sent")
    func drain() async {
        let connection = Connection()
        let queue = connection.queue()
        await queue.drain()
        queue.setConnected(true)
        for number in 0..<30 { queue.add(.init(payload: [UInt8(number)], adverts: 1)) }
        async let drained: Void = queue.drain()
        while case let more = connection.take(7), !more.isEmpty {}
        await drained
        #expect(queue.counts.messages == 30)
        queue.setConnected(false)
        queue.add(.init(payload: [1], adverts: 4))
        #expect(!queue.isEmpty)
        queue.abandon()
        #expect(queue.isEmpty && queue.counts.dropped == 4)
    }

    @Test("Messages stay in order, whichever threads add and finish them")
    func order() async {
        let submitted = Locked<[UInt8]>([])
        let queue = RelayQueue(report: { _ in }) { payload, done in
            submitted.withLock { $0.append(payload[0]) }
            Task { done(.sent) }
        }
        queue.setConnected(true)
        for number in 0..<200 {
            queue.add(.init(payload: [UInt8(number)], adverts: 1))
            if number % 20 == 0 { await queue.drain() }
        }
        await queue.drain()
        let order = submitted.withLock { $0 }
        #expect(order == order.sorted() && order.count + queue.counts.dropped == 200)
    }

    private final class Folder {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("relay-\(UUID())")
        var path: String { url.appendingPathComponent("x/relay.json").path }
        deinit { try? FileManager.default.removeItem(at: url) }
    }

    private static let constraint = BeaconConstraint("e2c56db5-dffb-48d2-b060-d0f5a71096e0/1")

    private static func change(
        _ kind: RegionEvent.Kind, _ state: RegionState, at time: Double = 1000
    ) throws -> RegionEvent {
        RegionEvent(
            kind, name: "hall \"1\"", constraint: try #require(constraint),
            time: Timestamp(nanoseconds: Int64(time * 1e9)), receiver: "hci0", state: state, before: .unknown)
    }

    @Test("Changes and states survive restarts in order")
    func persistence() async throws {
        let folder = Folder()
        do {
            let store = try TransitionStore(path: folder.path) { Issue.record("\($0)") }
            store.add(try Self.change(.enter, .inside), id: "a-1")
            store.add(try Self.change(.exit, .outside, at: 1060), id: "a-2")
            store.add(try Self.change(.enter, .inside, at: 1090), id: "a-3")
            store.remove(["a-1"])
            #expect(await store.flush())
            #expect(throws: StateError.self) { try TransitionStore(path: folder.path) { _ in } }
        }
        let store = try TransitionStore(path: folder.path) { Issue.record("\($0)") }
        #expect(store.first(10).map(\.id) == ["a-2", "a-3"] && store.count == 2)
        let constraint = try #require(Self.constraint)
        #expect(store.state(of: "hall \"1\"", constraint: constraint) == (.inside, "hci0"))
        #expect(store.state(of: "hall", constraint: constraint).state == .unknown)
        #expect(store.state(of: "hall \"1\"", constraint: BeaconConstraint(uuid: constraint.uuid)).state == .unknown)
        // An unknown state keeps the last known one.
        var unknown = try Self.change(.state, .unknown)
        unknown.before = .inside
        unknown.receiver = nil
        store.add(unknown, id: "a-4")
        #expect(store.state(of: "hall \"1\"", constraint: constraint) == (.inside, "hci0"))
        let line = try #require(store.first(1).first?.line)
        let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
        #expect(object?["id"] as? String == "a-2" && object?["event"] as? String == "exit")
        #expect(object?["time"] as? Double == 1060)
        #expect(await store.flush())
    }

    @Test("A damaged file is moved aside and reported; a failed write is reported, and nothing is lost in memory")
    func damage() async throws {
        let folder = Folder()
        let file = URL(fileURLWithPath: folder.path)
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data("{".utf8).write(to: file)
        let reports = Locked<[String]>([])
        let store = try TransitionStore(path: folder.path) { report in reports.withLock { $0.append(report) } }
        #expect(reports.withLock { $0 }.first?.contains("relay.json.damaged") == true)
        // A folder in its place cannot be replaced, even by root.
        try FileManager.default.createDirectory(at: file.appendingPathComponent("y"), withIntermediateDirectories: true)
        store.add(try Self.change(.enter, .inside), id: "a-1")
        #expect(await store.flush() == false)
        #expect(store.count == 1)
        #expect(reports.withLock { $0 }.contains { $0.contains("Cannot save") })
        try FileManager.default.removeItem(at: file)
        store.add(try Self.change(.exit, .outside), id: "a-2")
        #expect(await store.flush())
        #expect(reports.withLock { $0 }.last == "Changes of regions are saved again.")
    }

    @Test("A full store drops the oldest changes and reports it once")
    func bound() async throws {
        let folder = Folder()
        let reports = Locked(0)
        let store = try TransitionStore(path: folder.path) { _ in reports.withLock { $0 += 1 } }
        for number in 0...TransitionStore.capacity + 1 { store.add(try Self.change(.enter, .inside), id: "\(number)") }
        #expect(store.count == TransitionStore.capacity && store.first(1).first?.id == "2")
        #expect(reports.withLock { $0 } == 1)
        #expect(await store.flush())
    }

    @Test(
        "An invalid broker is rejected with a remedy",
        arguments: [
            ("broker.local", "mqtt://HOST"), ("mqtt://", "host is empty"), ("mqtt://h:0", "the port is not valid"),
            ("mqtt://h/\(String(repeating: "x", count: 250))", "longer than 256 bytes"), ("mqtt://h/a/#", "wildcard"),
            ("mqtt://h/a//b", "empty level"), ("mqtt://h/$SYS", "begins with $"),
        ])
    func mistakes(broker: String, message: String) {
        let error = #expect(throws: RelayError.self) { try Relay.Options(broker: broker, name: "hall") }
        #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
    }

    @Test("A name that is not a valid topic level is escaped, and a name that is too long is rejected")
    func names() throws {
        #expect(
            try Relay.Options(broker: "mqtt://h/museum", name: "a/b #1").topic == "museum/beacon-relay/a%2Fb%20%231")
        #expect(try Relay.Options(broker: "mqtt://h", name: "hall").topic == "beacon-relay/hall")
        for name in ["", String(repeating: "x", count: 65)] {
            #expect(throws: RelayError.self) { try Relay.Options(broker: "mqtt://h", name: name) }
        }
        #expect(try Relay.Options(broker: "mqtt://h/a/b", name: "hall").storePath.hasSuffix("/relay-a%2Fb%2Fhall.json"))
        #expect(try Relay.Options(broker: "mqtt://h", name: "hall").storePath.hasSuffix("/relay-hall.json"))
        // The broker disconnects one of two relays of the same name only if their topics are the same.
        #expect(try Relay.Options(broker: "mqtt://h/a", name: "hall").broker.clientID == "a-beacon-relay-hall")
    }
}
