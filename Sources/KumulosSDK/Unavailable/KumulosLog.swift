import BeaconSupport
import Logging

/// The log for an app's developers.
enum KumulosLog {
    static let logger = Logger(label: "swift-beacon.kumulos")

    private static let reported = Locked<Set<String>>([])

    /// Logs once in the life of the process that a part of Kumulos' SDK has no effect here.
    static func isMissing(_ part: String) {
        guard reported.withLock({ $0.insert(part).inserted }) else { return }
        logger.warning("there are no \(part) on Linux; the call compiles and does nothing, and beacon events are sent")
    }
}
