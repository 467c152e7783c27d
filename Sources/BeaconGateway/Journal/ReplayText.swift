package import BeaconModel
import Foundation

/// The lines of a playback for people.
package struct ReplayText {
    private let names: [BeaconIdentity: String]

    /// Creates lines with the names of beacons.
    package init(names: [BeaconIdentity: String]) { self.names = names }

    /// Returns a time by the local clock.
    ///
    /// - Parameter seconds: the seconds since 1970.
    package static func time(_ seconds: Double) -> String {
        let format = DateFormatter()
        format.locale = Locale(identifier: "en_US_POSIX")
        format.dateFormat = "yyyy-MM-dd HH:mm:ss"
        return format.string(from: Date(timeIntervalSince1970: seconds))
    }

    /// Returns the line of an event.
    package func line(_ event: ReplayedEvent) -> String { "\(Self.time(event.seconds))  \(sentence(event))" }

    /// Returns the line of a difference.
    package func line(_ change: ReplayComparison.Change) -> String {
        switch change {
        case .added(let event): "\(Self.time(event.seconds))  + \(sentence(event))"
        case .vanished(let event): "\(Self.time(event.seconds))  - \(sentence(event))"
        case .shifted(let event, let seconds):
            "\(Self.time(event.seconds))  ~ \(sentence(event)), \(text(abs(seconds))) \(seconds > 0 ? "later" : "earlier")"
        }
    }

    private func text(_ seconds: Double) -> String {
        seconds < 10 ? "\((seconds * 10).rounded() / 10) s" : "\(Int(seconds.rounded())) s"
    }

    private func sentence(_ event: ReplayedEvent) -> String {
        switch event {
        case .event(let event): sentence(event)
        case .run(let run):
            run.reason.map { "the rule \(run.rule) was withheld: \(run.summary), but \($0)" }
                ?? "the rule \(run.rule) ran: \(run.summary)"
        }
    }

    private func sentence(_ event: BeaconEvent) -> String {
        switch event {
        case .region(let event):
            let by = event.receiver.map { ", heard by \($0)" } ?? ""
            return switch event.kind {
            case .enter: "\(event.name) was entered\(by)"
            case .exit: "\(event.name) was left"
            default: "\(event.name) is \(event.state)"
            }
        case .placed(let event):
            let place =
                switch event.state {
                case .inside: "in \(event.place ?? "a place")"
                case .outside: "in no place"
                case .unknown: "in an unknown place"
                }
            let before = event.before.map { ", before in \($0)" } ?? ""
            let margin =
                event.margin.map { margin in
                    " by \((margin * 10).rounded() / 10) dB" + (event.runnerUp.map { " ahead of \($0)" } ?? "")
                } ?? ""
            return "\(name(event.identity)) is \(place)\(margin)\(before)"
        case .suspected(let event):
            return "\(name(event.identity)) may have been cloned: \(event.grounds.reason.rawValue)"
        default: return ""
        }
    }

    private func name(_ beacon: BeaconIdentity) -> String { names[beacon] ?? "beacon \(beacon.major)/\(beacon.minor)" }
}
