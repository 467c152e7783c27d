import BeaconModel
import BeaconRadio
import BeaconService

/// A radio that keeps what it is asked to send. What it tells, a test hands to the center itself.
final class RecordingRadio: Radio {
    private let log = Locked<[[IBeaconFrame]]>([])

    func events() -> AsyncStream<RadioEvent> { AsyncStream { _ in } }
    func scan(_ mode: ScanMode) {}
    func advertise(_ frames: [IBeaconFrame]) { log.withLock { $0.append(frames) } }

    /// All that it was asked to send, one set after another.
    var requests: [[IBeaconFrame]] { log.withLock { $0 } }

    /// What it would be sending now.
    var frames: [IBeaconFrame] { requests.last ?? [] }
}
