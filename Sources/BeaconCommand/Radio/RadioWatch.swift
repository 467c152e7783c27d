import BeaconModel
import BeaconRadio
import BeaconService

/// Tells the user on standard error what a radio notices and what becomes of it, and keeps the clock on the wall.
final class RadioWatch {
    /// How far the clock on the wall is ahead of the radio's times, in nanoseconds.
    private var ahead: Int64 = 0
    private var state = RadioState.unknown
    private let isQuiet: Bool

    /// How it went with the newest frames that were to be advertised; nil before the answer.
    private(set) var advertising: Result<Void, RadioError>?

    /// - Parameter isQuiet: whether only trouble is told.
    init(isQuiet: Bool = false) { self.isQuiet = isQuiet }

    /// Takes in what a radio tells.
    func hear(_ event: RadioEvent) {
        switch event {
        case .wallClock(let ahead): self.ahead = ahead
        case .state(let new): hear(new)
        case .notice(let notice) where notice.isTrouble || !isQuiet: StandardError.write("\(notice)")
        case .advertising(let result): advertising = result
        case .notice, .time, .sightings: break
        }
    }

    /// A time of the radio by the clock on the wall.
    func onTheWall(_ time: Timestamp) -> Timestamp { time.advanced(by: ahead) }

    /// An event with its time by the clock on the wall.
    func onTheWall(_ event: SessionEvent) -> SessionEvent {
        switch event {
        case .region(let kind, var change):
            change.time = onTheWall(change.time)
            return .region(kind, change)
        case .ranged(var report):
            report.time = onTheWall(report.time)
            return .ranged(report)
        }
    }

    private func hear(_ new: RadioState) {
        let before = state
        state = new
        switch new {
        case .poweredOn: if before != .unknown { StandardError.write("The radio is back.") }
        case .poweredOff: StandardError.write("The radio is switched off; waiting for it to be switched on.")
        case .resetting: StandardError.write("The radio is being brought back.")
        case .unsupported: StandardError.write("The radio is gone; waiting for its return.")
        case .unauthorized: StandardError.write("This process may no longer use the radio.")
        case .unknown: break
        }
    }
}
