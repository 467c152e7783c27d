import BeaconModel
import BeaconRadio
import Testing

@testable import LinuxRadio

struct BlueZWatchdogTests {
    /// The controller with the kernel's event count.
    private final class Controller {
        var events: UInt32? = 0
    }

    private let controller = Controller()
    private let queue = BlueZEventQueue(adapter: "hci0")

    private func time(_ seconds: Int64) -> Timestamp {
        Timestamp(nanoseconds: (1000 + seconds) * Timestamp.nanosecondsPerSecond)
    }

    /// A finding and its second.
    private struct Found: Equatable {
        var second: Int64
        var finding: BlueZWatchdog.Verdict
    }

    /// Returns the findings in this many seconds, except signs of life.
    ///
    /// - Parameter isRestarted: true to restart a scan in doubt, which the controller answers with some events.
    private func findings(
        in seconds: Int64, isSearching: (Int64) -> Bool, isRestarted: Bool = false,
        each second: (Int64) -> Timestamp = { _ in .zero }
    ) -> [Found] {
        var watchdog = BlueZWatchdog(adapter: "hci0") { [controller] _ in controller.events }
        watchdog.begin(at: time(0))
        var found: [Found] = []
        for passed in 1...seconds {
            let reported = second(passed)
            let finding = watchdog.check(
                at: time(passed), lastReport: reported, isSearching: isSearching(passed), queue)
            if finding != .alive { found.append(Found(second: passed, finding: finding)) }
            if isRestarted, finding == .doubtful {
                controller.events = controller.events.map { $0 + 6 }
                watchdog.pause(at: time(passed))
            }
        }
        return found
    }

    /// Returns the seconds at which a scan was considered dead, within this many seconds.
    private func deaths(
        in seconds: Int64, isSearching: Bool, each second: (Int64) -> Timestamp = { _ in .zero }
    ) -> [Int64] {
        findings(in: seconds, isSearching: { _ in isSearching }, each: second).compactMap {
            if case .silent = $0.finding { $0.second } else { nil }
        }
    }

    @Test("A search that reports nothing is dead, whatever the controller counts")
    func aSilentSearchIsDeadWhateverTheControllerCounts() {
        let deaths = deaths(in: 700, isSearching: true) { _ in
            // The kernel restarts its scan every ten seconds, which the controller answers with events.
            controller.events = controller.events.map { $0 + 1 }
            return .zero
        }
        #expect(deaths == [90, 270, 630])
    }

    @Test("A search that reports any device is alive")
    func aSearchThatReportsAnyDeviceIsAlive() {
        #expect(deaths(in: 700, isSearching: true) { time($0 / 60 * 60) } == [])
    }

    @Test("After new reports the watchdog is alert again")
    func newReportsMakeTheWatchdogAlertAgain() {
        // Deaths at 90 and 270; reports until 400; dead 90 s later.
        #expect(deaths(in: 550, isSearching: true) { (300...400).contains($0) ? time($0) : .zero } == [90, 270, 490])
    }

    @Test("A filter is alive as long as the controller counts")
    func aFilterIsAliveAsLongAsTheControllerCounts() {
        let deaths = deaths(in: 700, isSearching: false) { second in
            if second <= 300 { controller.events = controller.events.map { $0 + 1 } }
            return .zero
        }
        #expect(deaths == [390, 570])
        #expect(queue.events.isEmpty)
    }

    @Test("A filter whose count stops in a lively air is doubted once per silence, before a region can end")
    func aFilterWhoseCountStopsIsDoubtedOnce() {
        let found = findings(in: 460, isSearching: { _ in false }, isRestarted: true) { second in
            // Six events in ten seconds, twice. Each time the count stops for good, and grows in between.
            if second <= 300 || (350...400).contains(second) {
                controller.events = controller.events.map { $0 + (second % 10 < 6 ? 1 : 0) }
            }
            return .zero
        }
        #expect(
            found == [Found(second: 310, finding: .doubtful), Found(second: 410, finding: .doubtful)])
    }

    @Test("A revived scan in a steady air is reported, with the length of the silence")
    func aRevivedScanIsReported() {
        let found = findings(in: 400, isSearching: { _ in false }, isRestarted: true) { second in
            if !(303..<313).contains(second) { controller.events = controller.events.map { $0 + 2 } }
            return .zero
        }
        #expect(found.isEmpty)
        let longer = findings(in: 400, isSearching: { _ in false }, isRestarted: true) { second in
            if !(303..<323).contains(second) { controller.events = controller.events.map { $0 + 2 } }
            return .zero
        }
        // The count grew at 310 and stopped at 320. From 330 on, the events of the restart do not count.
        #expect(
            longer == [
                Found(second: 320, finding: .doubtful),
                Found(second: 340, finding: .revived(silence: 10 * Timestamp.nanosecondsPerSecond)),
            ])
    }

    @Test("A restart without effect is followed by a report, 90 s after the last sign of life")
    func aRestartWithoutEffectIsFollowedByAReport() {
        let found = findings(in: 400, isSearching: { _ in false }, isRestarted: true) { second in
            if second <= 300 { controller.events = controller.events.map { $0 + 2 } }
            return .zero
        }
        #expect(
            found == [Found(second: 310, finding: .doubtful), Found(second: 390, finding: .silent(seconds: 90))])
    }

    @Test("Counts from before a search do not apply to a filter after it")
    func countsFromBeforeASearchDoNotApplyToAFilter() {
        let found = findings(in: 700, isSearching: { (301...600).contains($0) }, isRestarted: true) { second in
            if second <= 600 { controller.events = controller.events.map { $0 + 2 } }
            return (301...600).contains(second) ? time(second) : .zero
        }
        #expect(found == [Found(second: 690, finding: .silent(seconds: 90))])
    }

    @Test("A filter whose count stops soon after its start is doubted too")
    func aFilterThatDiesSoonIsDoubted() {
        let found = findings(in: 60, isSearching: { _ in false }) { second in
            if second <= 20 { controller.events = controller.events.map { $0 + 2 } }
            return .zero
        }
        #expect(found == [Found(second: 30, finding: .doubtful)])
    }

    @Test("If devices are too rare for a silence to prove anything, a filter is not doubted")
    func aFilterInAQuietAirIsNotDoubted() {
        let found = findings(in: 700, isSearching: { _ in false }) { second in
            if second % 60 == 0 { controller.events = controller.events.map { $0 + 4 } }
            return .zero
        }
        #expect(found.isEmpty)
    }

    @Test("Without a count a filter is left alone, which is reported once")
    func withoutACountAFilterIsLeftAlone() throws {
        controller.events = nil
        #expect(deaths(in: 700, isSearching: false) == [])
        #expect(queue.events.count == 1)
        guard case .notice(let notice) = try #require(queue.events.first) else { return #expect(Bool(false)) }
        #expect(notice.kind == .livenessUnknown)
    }
}
