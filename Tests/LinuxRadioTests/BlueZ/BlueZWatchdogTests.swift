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
    private let reports = BlueZReports(adapter: "hci0")

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
            let finding = watchdog.check(at: time(passed), told: told, isSearching: isSearching, reports)
            if finding != .alive { deaths.append(passed) }
        }
        return deaths
    }

    @Test func aSearchThatTellsNothingIsDeadWhateverTheControllerCounts() {
        let deaths = deaths(in: 700, isSearching: true) { _ in
            // The kernel begins its scan anew each ten seconds, which the controller answers.
            controller.events = controller.events.map { $0 + 1 }
            return .zero
        }
        #expect(deaths == [90, 270, 630])
    }

    @Test func aSearchThatTellsOfAnyDeviceLives() {
        #expect(deaths(in: 700, isSearching: true) { time($0 / 60 * 60) } == [])
    }

    @Test func whatWasHeardMakesTheWatchdogAlertAgain() {
        // Deaths at 90 and 270; heard until 400; dead 90 s after.
        #expect(deaths(in: 550, isSearching: true) { (300...400).contains($0) ? time($0) : .zero } == [90, 270, 490])
    }

    @Test func aFilterIsAliveAsLongAsTheControllerCounts() {
        let deaths = deaths(in: 700, isSearching: false) { second in
            if second <= 300 { controller.events = controller.events.map { $0 + 1 } }
            return .zero
        }
        #expect(deaths == [390, 570])
        #expect(reports.events.isEmpty)
    }

    @Test func withoutACountAFilterIsLeftAloneAndThatIsToldOnce() {
        controller.events = nil
        #expect(deaths(in: 700, isSearching: false) == [])
        #expect(reports.events.count == 1)
        guard case .notice(let notice)? = reports.events.first else { return #expect(Bool(false)) }
        #expect(notice.kind == .livenessUnknown)
    }
}
