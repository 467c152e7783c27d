import Foundation
import Subprocess
import TestSupport
import Testing

@Suite("beacond delivers", .fewAtATime)
struct DeliveryTests {
    private static let store = "02f07e83-abd6-4243-90a8-3617c9c74e70"

    private static func configuration(_ url: String, speed: String = "max") -> String {
        """
        sources: [{ name: shop, from: simulation:department-store, speed: \(speed) }]
        regions: [{ name: store, uuid: \(store), exit-timeout: 10s }]
        destinations: [{ name: cloud, type: webhook, url: '\(url)' }]
        """
    }

    private struct Event: Decodable {
        struct Data: Decodable {
            var kind: String
            var time: Double
        }

        var id: String
        var data: Data
    }

    private static func events(_ receiver: Receiver) throws -> [Event] {
        try receiver.deliveries.map { try JSONDecoder().decode(Event.self, from: Data($0.body.utf8)) }
    }

    @Test("A webhook receives all notifications of a simulation in order, and a summary follows")
    func webhook() async throws {
        let bench = try DaemonBench()
        try await Receiver.serve { receiver in
            try bench.configure(Self.configuration(receiver.url))
            let outcome = try await bench.run("--config", "beacond.yaml")
            #expect(outcome.status == 0, "\(outcome.errors)")
            #expect(outcome.output.isEmpty)
            let events = try Self.events(receiver)
            let kinds = events.map(\.data.kind)
            #expect(kinds.filter { $0 == "enter" }.count == 2 && kinds.filter { $0 == "exit" }.count == 2)
            #expect(events.map(\.data.time) == events.map(\.data.time).sorted())
            #expect(Set(events.map(\.id)).count == events.count)
            #expect(receiver.deliveries.map(\.key) == events.map(\.id))
            #expect(outcome.errors.contains("\(events.count) notifications (2 enter, 2 exit,"))
            #expect(outcome.errors.contains("cloud: \(events.count) delivered, 0 waiting"))
        }
    }

    @Test("A dry run prints the notifications for each destination, and leaves no files")
    func dryRun() async throws {
        let bench = try DaemonBench()
        try bench.configure(
            """
            sources: [{ name: shop, from: simulation:department-store, speed: max }]
            regions:
              - { name: one, uuid: \(Self.store), major: 1 }
              - { name: two, uuid: \(Self.store), major: 2 }
            notify: { events: [enter, exit] }
            destinations:
              - { name: all, type: webhook, url: 'http://127.0.0.1:9' }
              - { name: second, type: webhook, url: 'http://127.0.0.1:9', regions: two, events: enter }
            launch: { rules: [{ name: r, program: "/bin/sh -c 'touch started'" }] }
            """)
        let outcome = try await bench.run("--config", "beacond.yaml", "--dry-run")
        #expect(outcome.status == 0, "\(outcome.errors)")
        struct Line: Decodable {
            struct Notification: Decodable {
                struct Region: Decodable { var name: String }
                var kind: String
                var region: Region
            }
            var destination: String
            var notification: Notification
        }
        let lines = try outcome.lines.map { try JSONDecoder().decode(Line.self, from: Data($0.utf8)) }
        #expect(
            lines.map { "\($0.destination) \($0.notification.kind) \($0.notification.region.name)" } == [
                "all enter one", "all exit one", "all enter two", "second enter two", "all exit two",
            ])
        let left = try FileManager.default.contentsOfDirectory(atPath: bench.folder.path)
        #expect(left == ["beacond.yaml"])
    }

    @Test("SIGTERM in the middle loses nothing: the rest waits for the next run")
    func termination() async throws {
        let bench = try DaemonBench()
        try await Receiver.serve { receiver in
            try bench.configure(Self.configuration(receiver.url, speed: "40"))
            let first = try await bench.run(["--config", "beacond.yaml"]) { daemon in
                try await daemon.wait("some are delivered") { receiver.deliveries.count > 5 }
                receiver.answer(500)
                let count = receiver.deliveries.count
                try await daemon.wait("some are not") { daemon.errors.contains("failed") }
                #expect(receiver.deliveries.count <= count + 1)
                try daemon.send(.terminate)
            }
            #expect(first.status == 0, "\(first.errors)")
            let made = try #require(first.errors.firstMatch(of: /(\d+) notifications \(/).flatMap { Int($0.1) })
            receiver.answer(204)
            // A source without adverts, so that only waiting notifications are sent.
            let silence = try bench.write(DaemonBench.sighting(1, uuid: DaemonBench.uuid), to: "silence.ndjson")
            try bench.configure(
                Self.configuration(receiver.url).replacing("simulation:department-store", with: silence))
            let second = try await bench.run("--config", "beacond.yaml")
            #expect(second.status == 0, "\(second.errors)")
            let ids = try Self.events(receiver).map(\.id)
            #expect(Set(ids).count == made, "\(first.errors) \(second.errors)")
            #expect(Array(NSOrderedSet(array: ids)).compactMap { $0 as? String } == Set(ids).sorted())
        }
    }

    @Test("Ctrl-C is status 130, and a second signal does not wait")
    func impatience() async throws {
        let bench = try DaemonBench()
        try await Receiver.serve { receiver in
            try bench.configure(Self.configuration(receiver.url, speed: "20"))
            let polite = try await bench.run(["--config", "beacond.yaml"]) { daemon in
                try await daemon.wait("it runs") { receiver.deliveries.count > 1 }
                try daemon.send(.interrupt)
            }
            #expect(polite.status == 130, "\(polite.errors)")
            #expect(polite.errors.contains("cloud: "))
            receiver.hang(true)
            let before = receiver.requests
            let impatient = try await bench.run(["--config", "beacond.yaml"]) { daemon in
                try await daemon.wait("a request is on its way") { receiver.requests > before }
                // Both are pending when it continues, so that the first cannot end it before the second arrives.
                try daemon.send(.suspend)
                try daemon.send(.interrupt)
                try daemon.send(.terminate)
                try daemon.send(.resume)
            }
            #expect([130, 143].contains(impatient.status), "\(impatient.errors)")
            #expect(!impatient.errors.contains("cloud: "))
            receiver.hang(false)
        }
    }

    @Test("Presence survives a restart: no second enter, and an exit for a beacon that left in between")
    func restart() async throws {
        let bench = try DaemonBench()
        let configuration = """
            sources: [log.ndjson]
            regions: [{ name: hall, uuid: \(DaemonBench.uuid) }]
            notify: { events: [enter, exit] }
            destinations: [{ name: cloud, type: webhook, url: 'http://127.0.0.1:9' }]
            """
        try bench.configure(configuration.replacing("log.ndjson", with: bench.folder.path + "/log.ndjson"))
        let stranger = "00000000-0000-0000-0000-000000000001"
        let logs = [
            DaemonBench.sighting(1000) + DaemonBench.sighting(1005),
            DaemonBench.sighting(1010),
            DaemonBench.sighting(2000, uuid: stranger) + DaemonBench.sighting(2031, uuid: stranger),
            DaemonBench.sighting(2100),
        ]
        var reported: [String] = []
        for log in logs {
            try bench.write(log, to: "log.ndjson")
            let run = try await bench.run("--config", "beacond.yaml", "--linger", "0s")
            #expect(run.status == 0, "\(run.errors)")
            let list = try await bench.run("outbox", "list", "--waiting", "--config", "beacond.yaml")
            reported = list.lines.dropFirst().compactMap {
                $0.firstMatch(of: /:(\d\d:\d\d)Z +(\w+)/).map { "\($0.1) \($0.2)" }
            }
        }
        // The exit comes one timeout after the start of the third run.
        #expect(reported == ["16:40 enter", "33:50 exit", "35:00 enter"])
    }

    @Test("A damaged source is reported, and the others continue")
    func damagedSource() async throws {
        let bench = try DaemonBench()
        let damaged = try bench.write(DaemonBench.sighting(1000) + "{\"time\":", to: "damaged.ndjson")
        let whole = try bench.write(DaemonBench.sighting(1000, minor: 2), to: "whole.ndjson")
        try bench.configure(
            """
            sources: [{ name: one, from: \(damaged) }, { name: two, from: \(whole) }]
            regions:
              - { name: a, uuid: \(DaemonBench.uuid), major: 1, minor: 1 }
              - { name: b, uuid: \(DaemonBench.uuid), major: 1, minor: 2 }
            destinations: [{ name: cloud, type: webhook, url: 'http://127.0.0.1:9' }]
            notify: { events: enter }
            """)
        let outcome = try await bench.run("--config", "beacond.yaml", "--dry-run")
        #expect(outcome.status == 1)
        #expect(outcome.lines.count == 2)
        #expect(outcome.errors.contains("one: "), "\(outcome.errors)")
    }

    @Test("On a terminal a line shows the statistics")
    func liveStatistics() async throws {
        let bench = try DaemonBench()
        try bench.configure(Self.configuration("http://127.0.0.1:9", speed: "100"))
        let outcome = try await bench.run(
            "/usr/bin/script",
            ["-qefc", "\(DaemonBench.product("beacond")) --config beacond.yaml --linger 0s", "/dev/null"])
        #expect(
            outcome.output.contains(
                #/\d+ adverts · \d+ beacons? present · in \d regions? · \d+ notifications? · cloud: /#))
    }
}
