import Foundation
import TestSupport
import Testing

/// The time zone belongs to a whole process, so each test has its own process.
@Suite("Rule hours in the machine's time zone", .fewAtATime)
struct TimeZoneTests {
    /// Times around clock changes, and far from them.
    private static let times = [
        "2026-03-29T00:30:00Z", "2026-03-29T01:30:00Z", "2026-07-01T06:30:00Z", "2026-10-25T00:30:00Z",
        "2026-10-25T01:30:00Z", "2026-12-01T06:30:00Z",
    ].compactMap { try? Date($0, strategy: .iso8601).timeIntervalSince1970 }

    private static let (berlin, tokyo, utc) = ([1, 3, 8, 2, 2, 7], [9, 10, 15, 9, 10, 15], [0, 1, 6, 0, 1, 6])

    /// Zones, and the hours that their clocks show.
    private static let zones = [
        ("Europe/Berlin", berlin), (":Europe/Berlin", berlin), ("CET-1CEST,M3.5.0,M10.5.0/3", berlin),
        ("Asia/Tokyo", tokyo), (":Asia/Tokyo", tokyo), ("JST-9", tokyo), ("<+09>-9", tokyo),
        (":/usr/share/zoneinfo/Asia/Tokyo", tokyo), ("EST5EDT,M3.2.0,M11.1.0", [20, 21, 2, 20, 21, 1]),
        ("NZST-12NZDT,M9.5.0,M4.1.0/3", [13, 14, 18, 13, 14, 19]), ("", utc), ("UTC", utc), ("Nowhere/City", utc),
    ]

    @Test("A rule's hours are those of a clock in the zone, and check warns about an unknown zone", arguments: zones)
    func hours(_ zone: String, _ hours: [Int]) async throws {
        let bench = try DaemonBench()
        let log = try bench.write(Self.times.map { DaemonBench.sighting($0) }.joined(), to: "log.ndjson")
        let rules = (0..<24).map { hour in
            let span = String(format: "%02d:00-%02d:00", hour, hour + 1)
            return """
                    - name: hour \(hour)
                      program: [sh, -c, 'echo "\(hour) $(cat)" >> reported']
                      folder: .
                      interval: 0s
                      when: { hours: "\(span)" }

                """
        }
        try bench.configure(
            """
            sources: [\(log)]
            regions: [{ name: hall, uuid: \(DaemonBench.uuid) }]
            launch:
              rules:
            \(rules.joined())
            """)
        let environment = ["TZ": zone]
        let outcome = try await bench.run("--config", "beacond.yaml", environment: environment)
        #expect(outcome.status == 0, "\(outcome.errors)")
        let reported = bench.read("reported").matches(of: /(\d+) \{.*?"time":(\d+)/).map {
            (hour: Int($0.1), time: Double($0.2))
        }
        #expect(reported.sorted { $0.time ?? 0 < $1.time ?? 0 }.map(\.hour) == hours, "\(bench.read("reported"))")
        let check = try await bench.run("check", "beacond.yaml", environment: environment)
        let isUnknown = zone == "Nowhere/City"
        #expect(check.status == 0 && check.output.isEmpty != isUnknown, "\(check.output)")
        #expect(
            !isUnknown
                || check.output.hasPrefix(
                    "TZ in the environment: warning: the time zone \"Nowhere/City\" is not known")
        )
    }
}
