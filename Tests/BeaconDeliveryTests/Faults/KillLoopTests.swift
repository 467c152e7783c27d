import BeaconSupport
import Foundation
import TestServer
import TestSupport
import Testing

@Suite("Kill loop", .fewAtATime)
struct KillLoopTests {
    private static let events = 10_000
    private static let kills = 200

    @Test("Killed with -9 at 200 random moments, every event arrives at both destinations, in order, by the same name")
    func killLoop() async throws {
        let folder = try TemporaryFolder()
        let chance = Locked(SystemRandomNumberGenerator())
        try await HTTPTestServer.with(replies: { _ in
            // One in a hundred is taken and answered with an error, which the destination cannot tell from a loss.
            chance.withLock { Int.random(in: 0..<100, using: &$0) } == 0 ? .status(503) : .status(200)
        }) { server in
            let arguments = ["deliver", folder.url.path, "\(server.port)", "\(Self.events)"]
            var killed = 0
            // The moments lie all along the way of the events, counted in requests of both destinations.
            let moments = (0..<Self.kills).map { _ in Int.random(in: 0..<2 * Self.events) }.sorted()
            for moment in moments {
                let worker = try WorkerProgram(arguments)
                if Int.random(in: 0..<4) == 0 {
                    // Some while it starts, opens the outbox and mends its log.
                    try await Task.sleep(for: .microseconds(Int.random(in: 0..<40_000)))
                } else {
                    try await eventually { server.count >= moment || worker.exitStatus() != nil }
                    try await Task.sleep(for: .microseconds(Int.random(in: 0..<3_000)))
                }
                if worker.kill() { killed += 1 }
            }
            let last = try WorkerProgram(arguments)
            var status: Int32?
            try await eventually("the last worker ends") {
                status = last.exitStatus()
                return status != nil
            }
            #expect(status == 0)

            #expect(killed == Self.kills, "the worker ended \(Self.kills - killed) times before it could be killed")
            var report = "kill loop: \(Self.events) events, \(killed) kills;"
            for name in ["first", "second"] {
                let requests = server.requests.filter { $0.path == "/\(name)" }
                let numbers = try requests.map { try #require($0.minor) }
                var newest = 0
                var repeated = 0
                var gaps = 0
                var names: [Int: String] = [:]
                for (number, request) in zip(numbers, requests) {
                    if number > newest + 1 { gaps += 1 }
                    if number <= newest { repeated += 1 }
                    newest = max(newest, number)
                    let id = try #require(request.headers["idempotency-key"])
                    #expect(names[number] == nil || names[number] == id, "an event came by two names")
                    #expect(request.object["id"] as? String == id)
                    names[number] = id
                }
                #expect(names.count == Self.events, "\(Self.events - names.count) events are missing at \(name)")
                #expect(gaps == 0, "events came out of order at \(name)")
                #expect(Set(names.values).count == Self.events)
                report += " \(name): \(names.count) arrived, \(repeated) repeated, \(gaps) out of order;"
            }
            print(report)
        }
    }
}
