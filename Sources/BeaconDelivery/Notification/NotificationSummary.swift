import BeaconModel
import BeaconSupport

extension BeaconNotification {
    /// Returns a summary in one sentence, without a full stop.
    package func summarized() -> String {
        let title = beaconName ?? beacon.map { "\($0.major)/\($0.minor)" } ?? "a beacon"
        let region = region?.name ?? "a region"
        switch kind {
        case .enter: return "\(region) was entered"
        case .exit: return "\(region) was left"
        case .state:
            switch state {
            case .inside: return "\(region): a beacon is present"
            case .outside: return "\(region): no beacon is present"
            default: return "\(region): unknown while its receivers are deaf"
            }
        case .proximity: return "\(title) is \(proximity?.description ?? "unknown")"
        case .gone: return "\(title) is gone"
        case .place:
            if state == .unknown { return "\(title) is in an unknown place" }
            return "\(title) is \(place != nil && place == before ? "still " : "")in \(place ?? "no place")"
        case .suspicious: return suspicion.map { Self.summary(of: $0, title) } ?? "\(title) may have been cloned"
        case .heartbeat: return "heartbeat with the present beacons"
        default: return name ?? kind.rawValue
        }
    }

    /// Returns the grounds of a suspicion of a beacon, as a sentence.
    package static func summary(of grounds: SuspicionEvidence, _ title: String) -> String {
        if grounds.reason == .forged {
            let place = grounds.receivers.first.map { " at \($0)" } ?? ""
            let sender = grounds.addresses.first.map { ", from the address \($0)" } ?? ""
            return "a device\(place) pretends to be \(title)\(sender): it sends the made-up UUID of that tag; its "
                + "adverts do not count"
        }
        guard let first = grounds.receivers.first, let last = grounds.receivers.last else {
            return "\(title) may have been cloned"
        }
        let apart = grounds.distance.map { ", \(Int($0.rounded())) m apart" } ?? ""
        let seconds = DurationText.text(.seconds(max(Int(grounds.seconds.rounded()), 1)))
        let what =
            switch grounds.reason {
            case .apart: "is heard close to \(first) and close to \(last) at the same time\(apart)"
            case .speed: "moved from \(first) to \(last) in \(seconds)\(apart)"
            case .addresses:
                "alternates between two addresses: \(grounds.addresses.joined(separator: " and "))"
                    + (first == last ? ", at \(first)" : ", at \(first) and \(last)")
            default: "is suspicious (\(grounds.reason))"
            }
        return "\(title) \(what); it may have been cloned"
    }
}
