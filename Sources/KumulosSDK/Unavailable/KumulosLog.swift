import BeaconSupport
import Logging

/// The log for app developers.
enum KumulosLog {
    static let logger = Logger(label: "swift-beacon.kumulos")

    private static let reported = Locked<Set<String>>([])

    /// Logs once per process that a part of Kumulos' SDK has no effect here.
    static func logUnavailable(_ part: String) {
        guard reported.withLock({ $0.insert(part).inserted }) else { return }
        logger.warning("\(part) are not available on Linux: the call does nothing; beacon events are still sent")
    }
}
