import BeaconSupport
import Foundation
import TestServer
import TestSupport
import Testing

@Suite("Kill loop", .fewAtATime)
struct KillLoopTests {
    private static let events = 10_000
    private static let kills = 200

    @Test("After 200 random kill -9, every event has arrived at both destinations, in order and with a single id")
    func killLoop() async throws {
        let folder = try TemporaryFolder()
        let chance = Locked(SystemRandomNumberGenerator())
        try await HTTPTestServer.with(replies: { _ in
            // One request in a hundred is accepted but answered with an error. The destination cannot distinguish it
            // from a loss.
            chance.withLock { Int.random(in: 0..<100, using: &$0) } == 0 ? .status(503) : .status(200)
        }) { server in
            let arguments = ["deliver", folder.url.path, "\(server.port)", "\(Self.events)"]
            var killed = 0
            // The kills are spread over the whole run, counted in requests of both destinations.
            let killPoints = (0..<Self.kills).map { _ in Int.random(in: 0..<2 * Self.events) }.sorted()
            for killPoint in killPoints {
                let worker = try WorkerProgram(arguments)
                if Int.random(in: 0..<4) == 0 {
                    // Kill some workers while they start, open the outbox and recover its log.
                    try await Task.sleep(for: .microseconds(Int.random(in: 0..<40_000)))
                } else {
                    try await eventually { server.count >= killPoint || worker.exitStatus() != nil }
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
                    #expect(names[number] == nil || names[number] == id, "an event arrived with two ids")
                    #expect(request.object["id"] as? String == id)
                    names[number] = id
                }
                #expect(names.count == Self.events, "\(Self.events - names.count) events are missing at \(name)")
                #expect(gaps == 0, "events arrived out of order at \(name)")
                #expect(Set(names.values).count == Self.events)
                report += " \(name): \(names.count) arrived, \(repeated) repeated, \(gaps) out of order;"
            }
            print(report)
        }
    }
}
