import BeaconSupport
import Testing

@Suite("Reports of repeated events")
struct RepetitionReporterTests {
    private func reporter() -> RepetitionReporter<String, Int> { RepetitionReporter() }

    @Test("The first event is reported at once, the others as counts at growing intervals without loss")
    func flood() {
        var reporter = reporter()
        var reports: [(second: Int, count: Int)] = []
        // Ten times a second for an hour.
        for tenth in 0..<36_000 {
            let now = Duration.milliseconds(tenth * 100)
            if let report = reporter.note("a", tenth, at: now) { reports.append((tenth / 10, report.count)) }
        }
        #expect(reports.map(\.second) == [0, 60, 180, 420, 900, 1860])
        let rest = reporter.finish(at: .seconds(3600))
        #expect(rest.count == 1 && rest.first?.subject == 35_999)
        var total = 0
        for report in reports { total += report.count }
        for report in rest { total += report.count }
        #expect(total == 36_000)
    }

    @Test("The last events of a series are reported, although no further event occurs")
    func end() throws {
        var reporter = reporter()
        for second in 0..<90 { _ = reporter.note("a", second, at: .seconds(second)) }
        #expect(reporter.due(at: .seconds(100)).isEmpty)
        let report = try #require(reporter.due(at: .seconds(180)).first)
        #expect(report.count == 29 && report.subject == 89 && report.period == .seconds(120))
        #expect(reporter.due(at: .seconds(7200)).isEmpty)
    }

    @Test("An event is new again after a quiet hour, and events are counted separately")
    func quiet() {
        var reporter = reporter()
        #expect(reporter.note("a", 1, at: .zero)?.period == nil)
        #expect(reporter.note("b", 2, at: .seconds(1))?.count == 1)
        #expect(reporter.note("a", 3, at: .seconds(2)) == nil)
        #expect(reporter.due(at: .seconds(60)).map(\.count) == [1])
        #expect(reporter.due(at: .seconds(3700)).isEmpty)
        let report = reporter.note("a", 4, at: .seconds(3701))
        #expect(report?.count == 1 && report?.period == nil)
    }

    @Test("The number of keys is bounded")
    func bound() {
        var reporter = RepetitionReporter<Int, Int>(most: 10)
        for key in 0..<1000 { #expect(reporter.note(key, key, at: .zero) != nil) }
        #expect(reporter.finish(at: .zero).isEmpty)
    }
}
