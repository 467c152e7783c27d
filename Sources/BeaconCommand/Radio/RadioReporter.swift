import BeaconModel
import BeaconMonitoring
import BeaconRadio
import BeaconTerminal

extension RadioStatus {
    /// Makes a status that also prints on standard error what a radio notices, and when it is lost and back.
    ///
    /// - Parameters:
    ///   - isQuiet: true where only trouble is printed.
    ///   - hasReceivers: true where the radio stands for receivers elsewhere.
    static func printing(isQuiet: Bool = false, hasReceivers: Bool = false) -> RadioStatus {
        var state = RadioState.unknown
        return RadioStatus { event in
            switch event {
            case .state(let new):
                if let line = message(new, after: state, hasReceivers) { ErrorOutput.shared.write(line) }
                state = new
            // That of one adapter comes with a notice, which says more.
            case .deaf(_, _, .some): break
            case .deaf(let from, let to, nil):
                let seconds = Int(Double(to.since(from)) / 1e9)
                ErrorOutput.shared.write(
                    "Nothing was heard for \(seconds) s, since the machine or this process was suspended; "
                        + "regions have as much longer.")
            case .notice(let notice) where notice.isTrouble || !isQuiet:
                ErrorOutput.shared.write("\(notice)")
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
            default: "No receiver is known to hear; no region is left meanwhile."
            }
        }
        return switch new {
        case .poweredOn: old == .unknown ? nil : "The radio is back."
        case .poweredOff: "The radio is switched off; waiting for it to be switched on."
        case .resetting: "The radio is being reset; no region is left meanwhile."
        case .unsupported: "The radio is gone; waiting for its return."
        case .unauthorized: "This process may no longer use the radio."
        case .unknown: nil
        }
    }
}
