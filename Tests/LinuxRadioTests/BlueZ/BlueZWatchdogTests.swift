import BeaconModel
import BeaconRadio
import Testing

@testable import LinuxRadio

struct BlueZWatchdogTests {
    /// The controller as the kernel counts it.
    private final class Controller {
        var events: UInt32? = 0
    }

    private let controller = Controller()
    private let queue = BlueZEventQueue(adapter: "hci0")

    private func time(_ seconds: Int64) -> Timestamp {
        Timestamp(nanoseconds: (1000 + seconds) * Timestamp.nanosecondsPerSecond)
    }

    /// A finding and the second of it.
    private struct Found: Equatable {
        var second: Int64
        var finding: BlueZWatchdog.Verdict
    }

    /// The findings in so many seconds, but for signs of life.
    ///
    /// - Parameter isRestarted: whether a scan in doubt is begun anew, which the controller answers with some events.
    private func findings(
        in seconds: Int64, isSearching: (Int64) -> Bool, isRestarted: Bool = false,
        each second: (Int64) -> Timestamp = { _ in .zero }
    ) -> [Found] {
        var watchdog = BlueZWatchdog(adapter: "hci0") { [controller] _ in controller.events }
        watchdog.begin(at: time(0))
        var found: [Found] = []
        for passed in 1...seconds {
            let reported = second(passed)
            let finding = watchdog.check(at: time(passed), lastReport: reported, isSearching: isSearching(passed), queue)
            if finding != .alive { found.append(Found(second: passed, finding: finding)) }
            if isRestarted, finding == .doubtful {
                controller.events = controller.events.map { $0 + 6 }
                watchdog.pause(at: time(passed))
            }
        }
        return found
    }

    /// The seconds at which a scan was taken for dead, in so many seconds.
    private func deaths(
        in seconds: Int64, isSearching: Bool, each second: (Int64) -> Timestamp = { _ in .zero }
    ) -> [Int64] {
        findings(in: seconds, isSearching: { _ in isSearching }, each: second).compactMap {
            if case .silent = $0.finding { $0.second } else { nil }
        }
    }

    @Test("A search that reports nothing is dead whatever the controller counts")
    func aSearchThatTellsNothingIsDeadWhateverTheControllerCounts() {
        let deaths = deaths(in: 700, isSearching: true) { _ in
            // The kernel begins its scan anew each ten seconds, which the controller answers.
            controller.events = controller.events.map { $0 + 1 }
            return .zero
        }
        #expect(deaths == [90, 270, 630])
    }

    @Test("A search that reports of any device lives")
    func aSearchThatTellsOfAnyDeviceLives() {
        #expect(deaths(in: 700, isSearching: true) { time($0 / 60 * 60) } == [])
    }

    @Test("What was heard makes the watchdog alert again")
    func whatWasHeardMakesTheWatchdogAlertAgain() {
        // Deaths at 90 and 270; heard until 400; dead 90 s after.
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

    @Test("A filter whose count stops in a lively air is doubted once a silence, before a region could be left")
    func aFilterWhoseCountStopsIsDoubtedOnce() {
        let found = findings(in: 460, isSearching: { _ in false }, isRestarted: true) { second in
            // Six events in ten seconds, twice; each time it stops for good, and is heard of again in between.
            if second <= 300 || (350...400).contains(second) {
                controller.events = controller.events.map { $0 + (second % 10 < 6 ? 1 : 0) }
            }
            return .zero
        }
        #expect(
            found == [Found(second: 310, finding: .doubtful), Found(second: 410, finding: .doubtful)])
    }

    @Test("A scan in a steady air that hears again after it was begun anew is reported, with the silence before")
    func aScanThatHearsAgainIsReported() {
        let found = findings(in: 400, isSearching: { _ in false }, isRestarted: true) { second in
            if !(303..<313).contains(second) { controller.events = controller.events.map { $0 + 2 } }
            return .zero
        }
        #expect(found.isEmpty)
        let longer = findings(in: 400, isSearching: { _ in false }, isRestarted: true) { second in
            if !(303..<323).contains(second) { controller.events = controller.events.map { $0 + 2 } }
            return .zero
        }
        // It was seen to grow at 310 and to stand still at 320; from 330 on, what the restart caused is not counted.
        #expect(
            longer == [
                Found(second: 320, finding: .doubtful),
                Found(second: 340, finding: .revived(silence: 10 * Timestamp.nanosecondsPerSecond)),
            ])
    }

    @Test("A doubt that helped nothing is followed by a report, 90 s after the last sign of life")
    func aDoubtThatHelpedNothingIsFollowedByAReport() {
        let found = findings(in: 400, isSearching: { _ in false }, isRestarted: true) { second in
            if second <= 300 { controller.events = controller.events.map { $0 + 2 } }
            return .zero
        }
        #expect(
            found == [Found(second: 310, finding: .doubtful), Found(second: 390, finding: .silent(seconds: 90))])
    }

    @Test("What was counted before a search says nothing of a filter after it")
    func whatWasCountedBeforeASearchSaysNothingOfAFilterAfterIt() {
        let found = findings(in: 700, isSearching: { (301...600).contains($0) }, isRestarted: true) { second in
            if second <= 600 { controller.events = controller.events.map { $0 + 2 } }
            return (301...600).contains(second) ? time(second) : .zero
        }
        #expect(found == [Found(second: 690, finding: .silent(seconds: 90))])
    }

    @Test("A filter whose count stops soon after it was set is doubted too")
    func aFilterThatDiesSoonIsDoubted() {
        let found = findings(in: 60, isSearching: { _ in false }) { second in
            if second <= 20 { controller.events = controller.events.map { $0 + 2 } }
            return .zero
        }
        #expect(found == [Found(second: 30, finding: .doubtful)])
    }

    @Test("Where devices are heard so seldom that a silence says nothing, a filter is not doubted")
    func aSeldomAirIsNotDoubted() {
        let found = findings(in: 700, isSearching: { _ in false }) { second in
            if second % 60 == 0 { controller.events = controller.events.map { $0 + 4 } }
            return .zero
        }
        #expect(found.isEmpty)
    }

    @Test("Without a count a filter is left alone and that is reported once")
    func withoutACountAFilterIsLeftAloneAndThatIsToldOnce() throws {
        controller.events = nil
        #expect(deaths(in: 700, isSearching: false) == [])
        #expect(queue.events.count == 1)
        guard case .notice(let notice) = try #require(queue.events.first) else { return #expect(Bool(false)) }
        #expect(notice.kind == .livenessUnknown)
    }
}
