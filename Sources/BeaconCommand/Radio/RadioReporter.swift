import BeaconModel
import BeaconMonitoring
import BeaconRadio
import BeaconTerminal

extension RadioStatus {
    /// Makes a status that also prints the radio's notices, its loss and its return to standard error.
    ///
    /// - Parameters:
    ///   - isQuiet: true to print only trouble.
    ///   - hasReceivers: true if the radio stands for receivers elsewhere.
    static func printing(isQuiet: Bool = false, hasReceivers: Bool = false) -> RadioStatus {
        var state = RadioState.unknown
        return RadioStatus { event in
            switch event {
            case .state(let new):
                if let line = message(new, after: state, hasReceivers) { ErrorOutput.shared.write(line) }
                state = new
            // A notice with more detail accompanies the outage of one adapter.
            case .deaf(_, _, .some): break
            case .deaf(let from, let to, nil):
                let seconds = Int(Double(to.since(from)) / 1e9)
                ErrorOutput.shared.write(
                    "No adverts for \(seconds) s: the machine or this process was suspended. "
                        + "Exit timeouts are extended by as much.")
            case .notice(let notice) where notice.isTrouble || !isQuiet:
                ErrorOutput.shared.write("\(notice)")
            case .forged(_, let tag):
                ErrorOutput.shared.write(
                    "A device sends iBeacons with the made-up UUID of \"\(tag)\" and may be pretending to be it. They are "
                        + "dropped.")
            case .notice, .advertising, .wallClock, .opened, .heard, .failed, .ended:
                break
            }
        }
    }

    private static func message(_ new: RadioState, after old: RadioState, _ hasReceivers: Bool) -> String? {
        if hasReceivers {
            return switch new {
            case .poweredOn: old == .unknown ? nil : "A receiver hears again."
            case .unknown, .unauthorized: nil
            default: "No receiver is known to hear; until one does, no region is exited."
            }
        }
        return switch new {
        case .poweredOn: old == .unknown ? nil : "The radio is back."
        case .poweredOff: "The radio is switched off; waiting for it to be switched on."
        case .resetting: "The radio is being reset; until it is back, no region is exited."
        case .unsupported: "The radio is gone; waiting for its return."
        case .unauthorized: "This process may no longer use the radio."
        case .unknown: nil
        }
    }
}
