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

    /// The seconds at which a scan was taken for dead, in so many seconds.
    private func deaths(
        in seconds: Int64, isSearching: Bool, each second: (Int64) -> Timestamp = { _ in .zero }
    ) -> [Int64] {
        var watchdog = BlueZWatchdog(adapter: "hci0") { [controller] _ in controller.events }
        watchdog.begin(at: time(0))
        var deaths: [Int64] = []
        for passed in 1...seconds {
            let told = second(passed)
            let finding = watchdog.check(at: time(passed), lastReport: told, isSearching: isSearching, queue)
            if finding != .alive { deaths.append(passed) }
        }
        return deaths
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

    @Test("Without a count a filter is left alone and that is reported once")

    func withoutACountAFilterIsLeftAloneAndThatIsToldOnce() throws {
        controller.events = nil
        #expect(deaths(in: 700, isSearching: false) == [])
        #expect(queue.events.count == 1)
        guard case .notice(let notice) = try #require(queue.events.first) else { return #expect(Bool(false)) }
        #expect(notice.kind == .livenessUnknown)
    }
}
