internal import BeaconApplications
internal import BeaconMonitoring
internal import BeaconSupport
internal import Synchronization

/// The app of a device, as its centers and the device see it: its life behind a lock.
final class DeviceApplication: ApplicationLife {
    private let life: Locked<AppLife>
    private let pausing = Locked<(@Sendable (Bool) -> Void)?>(nil)
    /// The time of the next work, which the air reads in each step.
    private let nextWork = Atomic<Int64>(.max)

    init(seed: UInt64) { life = Locked(AppLife(seed: seed)) }

    /// Called with true when the app's code stops to run, and with false before it runs again.
    var onPause: (@Sendable (Bool) -> Void)? {
        get { pausing.withLock { $0 } }
        set { pausing.withLock { $0 = newValue } }
    }

    /// The life at present.
    var now: AppLife { life.withLock { $0 } }

    /// The time at which the device has work next; `max` for never.
    var deadline: Int64 { nextWork.load(ordering: .acquiring) }

    /// Changes the life. All callers are on the queue of the device's center.
    func change<Result>(_ body: (inout AppLife) -> Result) -> Result {
        let (result, pause) = life.withLock { life in
            let before = life.isAwake
            let result = body(&life)
            nextWork.store(life.launch == nil ? life.deadline ?? .max : .min, ordering: .releasing)
            return (result, life.isAwake == before ? nil : before)
        }
        // Outside of the lock, since it may read the life.
        if let pause { onPause?(pause) }
        return result
    }

    // MARK: - The center

    func admit(_ event: ApplicationEvent, status: AuthorizationStatus, at now: Int64) -> Admission {
        change { $0.admit(event, status: status, at: now) }
    }

    func forget(_ subject: ApplicationEvent.Subject) { change { $0.forget(subject) } }

    func begin(_ use: BackgroundUse, status: AuthorizationStatus) -> Bool { change { $0.begin(use, status: status) } }

    func end(_ use: BackgroundUse) { change { $0.end(use) } }

    func beginSession(of client: ClientID) { change { $0.beginSession(of: client) } }

    func removeClient(_ client: ClientID) { change { $0.remove(client) } }

    func allowFullAccuracy() { change { $0.allowFullAccuracy() } }

    var limits: UsageLimits { now.limits }

    var hasBackgroundMode: Bool { now.hasBackgroundMode }
}
