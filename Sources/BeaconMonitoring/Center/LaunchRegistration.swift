import BeaconApplications
import BeaconSupport
import Logging

/// The registration of an application that is started for its regions and conditions.
///
/// If the store fails, the error is logged and the application continues without the registration.
///
/// All calls wait for the disk. Except for ``begin()``, they are made on the disk's queue.
final class LaunchRegistration: Sendable {
    private let store: (any LaunchStore)?
    private let logger: Logger
    /// The registration that was stored last; nil before the first one and after a failure.
    private let stored = Locked<Bool?>(nil)
    private let hasStored = Locked(false)
    private let failure = Locked(false)

    init(_ store: (any LaunchStore)?, _ logger: Logger) {
        self.store = store
        self.logger = logger
    }

    /// Marks the application as running, and returns the events of its regions that it missed.
    func begin() -> [PendingRegionEvent] {
        do throws(StateError) {
            return try store?.begin() ?? []
        } catch {
            logger.error("cannot read pending region events: \(error)")
            return []
        }
    }

    /// Removes the missed events after they were delivered.
    ///
    /// - Returns: true if they were removed.
    func clear() -> Bool {
        do throws(StateError) {
            try store?.clear()
            return true
        } catch {
            logger.error("cannot remove pending region events, which will be delivered again: \(error)")
            return false
        }
    }

    /// True if the last update of the store failed.
    var hasFailed: Bool { failure.withLock { $0 } }

    /// Updates the store.
    ///
    /// - Parameters:
    ///   - status: the authorization of the application.
    ///   - hasTriggers: true if it has regions or conditions.
    func update(status: AuthorizationStatus, hasTriggers: Bool) {
        let isWanted = status == .always && hasTriggers
        guard let store, isWanted != stored.withLock({ $0 }) else { return }
        do throws(StateError) {
            if isWanted {
                try store.register()
            } else if status != .always {
                try store.unregister()
            } else if hasStored.withLock({ $0 }) {
                // An application without regions may be about to add some, and another of its processes may have some.
                try store.unregisterIfUnused()
            }
            stored.withLock { $0 = isWanted }
            failure.withLock { $0 = false }
            hasStored.withLock { $0 = true }
        } catch {
            logger.error("cannot register the application to be started for its regions: \(error)")
            stored.withLock { $0 = nil }
            failure.withLock { $0 = true }
        }
    }
}
