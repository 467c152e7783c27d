import BeaconApplications
import BeaconSupport
import Dispatch
import Logging

/// A writer that saves an application's regions on a separate queue, so that a slow disk delays no event.
///
/// Changes are kept per region, and the newest one wins: another process of the same application may have changed other
/// regions.
final class StateWriter: Sendable {
    /// The changes to write, in the order in which each region first changed.
    private struct Changes {
        var order: [String] = []
        /// The present region, or nil if it is no longer monitored.
        var regions: [String: RegisteredRegion?] = [:]
        /// True if a write is queued.
        var isQueued = false

        mutating func set(_ identifier: String, to region: RegisteredRegion?) {
            if regions.updateValue(region, forKey: identifier) == nil { order.append(identifier) }
        }
    }

    private let store: (any RegionStore)?
    private let logger: Logger
    private let queue = DispatchQueue(label: "swift-beacon.state")
    private let changes = Locked(Changes())
    private let hasFailed = Locked(false)
    private let isRetryQueued = Locked(false)

    /// How long a failed write waits for another change. A full disk usually stays full for a while.
    private static let retryTime = DispatchTimeInterval.seconds(30)

    /// Creates a writer of a store; nil to write nothing, so that an unreadable file is not overwritten.
    init(_ store: (any RegionStore)?, _ logger: Logger) {
        self.store = store
        self.logger = logger
    }

    /// Saves or removes a region soon. One write saves all changes that are pending by then.
    func update(_ identifier: String, to region: RegisteredRegion?) {
        guard store != nil else { return }
        let isFirst = changes.withLock { changes in
            changes.set(identifier, to: region)
            defer { changes.isQueued = true }
            return !changes.isQueued
        }
        if isFirst { queue.async { self.write() } }
    }

    /// Performs work on the disk's queue, after all writes that were submitted before.
    ///
    /// - Parameter work: receives true if everything has been saved.
    func perform(_ work: @escaping @Sendable (Bool) -> Void) {
        queue.async { work(self.store != nil && !self.hasFailed.withLock { $0 }) }
    }

    private func write() {
        guard let store else { return }
        let changes = changes.withLock { changes in
            defer { changes = Changes() }
            return changes
        }
        guard !changes.order.isEmpty else { return }
        do throws(StateError) {
            try store.update { regions in
                for identifier in changes.order {
                    let region = changes.regions[identifier] ?? nil
                    let place = regions.firstIndex { $0.identifier == identifier }
                    switch (place, region) {
                    case (let place?, let region?): regions[place] = region
                    case (let place?, nil): regions.remove(at: place)
                    case (nil, let region?): regions.append(region)
                    case (nil, nil): break
                    }
                }
            }
            if hasFailed.withLock({ failed in
                defer { failed = false }; return failed
            }) {
                logger.notice("region states are saved again")
            }
        } catch {
            let isChange = hasFailed.withLock { failed in
                defer { failed = true }
                return !failed
            }
            if isChange {
                logger.error("cannot save region states: \(error); they are kept in memory and tried again")
            }
            // Retries with the next change, or after a while.
            let isFirst = isRetryQueued.withLock { isQueued in
                defer { isQueued = true }
                return !isQueued
            }
            if isFirst {
                queue.asyncAfter(deadline: .now() + Self.retryTime) {
                    self.isRetryQueued.withLock { $0 = false }
                    self.write()
                }
            }
            self.changes.withLock { newer in
                var all = changes
                for identifier in newer.order { all.set(identifier, to: newer.regions[identifier] ?? nil) }
                all.isQueued = newer.isQueued
                newer = all
            }
        }
    }
}
