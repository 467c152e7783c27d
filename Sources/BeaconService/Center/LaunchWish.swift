import Logging

/// Whether an application wants to be started for its regions, as its store was told last. A store that fails is logged: an
/// application that runs goes on without it.
struct LaunchWish {
    private let store: (any LaunchStore)?
    private let logger: Logger
    private var isWanted: Bool?

    init(_ store: (any LaunchStore)?, _ logger: Logger) {
        self.store = store
        self.logger = logger
    }

    /// Says that the application runs, and gives what happened while it did not.
    func begin() -> [WaitingChange] {
        do throws(ServiceError) {
            return try store?.begin() ?? []
        } catch {
            logger.error("what happened while the application did not run is not told: \(error)")
            return []
        }
    }

    /// The application was told what had happened.
    func clear() {
        do throws(ServiceError) {
            try store?.clear()
        } catch {
            logger.error("what was told now will be told again: \(error)")
        }
    }

    /// Brings the store up to date.
    mutating func update(status: AuthorizationStatus, hasRegions: Bool) {
        let isWanted = status == .always && hasRegions
        guard let store, isWanted != self.isWanted else { return }
        do throws(ServiceError) {
            if isWanted {
                try store.register()
            } else if status != .always || self.isWanted != nil {
                // An application that has no regions yet may be about to say which.
                try store.unregister()
            }
            self.isWanted = isWanted
        } catch {
            logger.error("whether to start the application for its regions is not kept: \(error)")
        }
    }
}
