import TestSupport
import Testing

@Suite("beacond outbox", .fewAtATime)
struct OutboxTests {
    private static func configuration(_ url: String) -> String {
        """
        sources: [{ name: shop, from: simulation:department-store, speed: max }]
        regions: [{ name: store, uuid: 02f07e83-abd6-4243-90a8-3617c9c74e70, exit-timeout: 10s }]
        notify: { events: [enter, exit] }
        destinations: [{ name: cloud, type: webhook, url: '\(url)' }]
        """
    }

    @Test("Refused notifications can be listed, retried and dropped")
    func refused() async throws {
        let bench = try DaemonBench()
        try await Receiver.serve { receiver in
            try bench.configure(Self.configuration(receiver.url))
            receiver.answer(400)
            let run = try await bench.run("--config", "beacond.yaml")
            #expect(run.errors.contains("cloud: 0 delivered, 0 waiting, 4 refused"), "\(run.errors)")

            let list = try await bench.run("outbox", "list", "-c", "beacond.yaml")
            #expect(list.lines.first?.hasPrefix("cloud: 0 waiting, 4 refused, 0 delivered") == true, "\(list)")
            #expect(list.lines.dropFirst().allSatisfy { $0.contains("refused: ") && $0.contains("400") })
            let ids = list.lines.dropFirst().map { String($0.split(separator: " ")[0]) }
            try #require(ids.count == 4)

            let drop = try await bench.run("outbox", "drop", "-c", "beacond.yaml", ids[0])
            #expect(drop.output == "1 notification dropped.\n")
            let retry = try await bench.run("outbox", "retry", "-c", "beacond.yaml", "--destination", "cloud", ids[2])
            #expect(retry.output == "1 notification will be sent again.\n")
            let again = try await bench.run("outbox", "list", "-c", "beacond.yaml", "--json", "--waiting")
            #expect(again.lines.first?.contains(#""refused":2,"#) == true && again.lines.count == 4, "\(again)")

            receiver.answer(204)
            let all = try await bench.run("outbox", "retry", "-c", "beacond.yaml")
            #expect(all.output == "2 notifications will be sent again.\n")
            let silence = try bench.write(DaemonBench.sighting(1), to: "silence.ndjson")
            try bench.configure(
                Self.configuration(receiver.url).replacing("simulation:department-store", with: silence))
            _ = try await bench.run("--config", "beacond.yaml")
            #expect(receiver.deliveries.map(\.key) == Array(ids.dropFirst()))
        }
    }

    @Test("Mistakes on the command line are status 2, failures are status 1")
    func usage() async throws {
        let bench = try DaemonBench()
        try bench.configure(Self.configuration("http://127.0.0.1:9"))
        let missing = try await bench.run("outbox", "list", "-c", "beacond.yaml")
        #expect(missing.status == 1 && missing.errors.contains("there is no outbox at"))
        _ = try await bench.run("--config", "beacond.yaml", "--linger", "0s")
        for arguments in [
            ["drop"], ["retry", "1234"], ["list", "--destination", "clod"], ["drop", "--all", "x"], ["lst"],
        ] {
            let outcome = try await bench.run(
                DaemonBench.product("beacond"), ["outbox"] + arguments + ["-c", "beacond.yaml"])
            #expect(outcome.status == 2, "\(arguments) \(outcome)")
        }
        let unknown = try await bench.run(
            "outbox", "drop", "-c", "beacond.yaml", "018bcfe5-a18b-7000-ac95-848bb2a7c036")
        #expect(unknown.status == 1)
        let all = try await bench.run("outbox", "drop", "-c", "beacond.yaml", "--all", "--waiting")
        #expect(all.output == "4 notifications dropped.\n", "\(all)")
    }
}
