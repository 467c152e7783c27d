import BeaconApplications
import BeaconSupport
import Dispatch
import Logging

/// A writer of an application's regions on a queue of its own, so that a slow disk holds up no event.
///
/// Changes are by region and the newest of each wins: another process of the same application may have changed others.
final class StateWriter: Sendable {
    /// The changes that are to be written, in the order in which the first of each region came.
    private struct Changes {
        var order: [String] = []
        /// A region as it is now, or nil where it is no longer monitored.
        var regions: [String: RegisteredRegion?] = [:]
        /// True where the queue is about to write.
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

    /// How long a failed write waits for another change: a disk that is full stays so for a while.
    private static let retryTime = DispatchTimeInterval.seconds(30)

    /// Creates a writer of a store; nil where nothing may be written, over a file that could not be read.
    init(_ store: (any RegionStore)?, _ logger: Logger) {
        self.store = store
        self.logger = logger
    }

    /// Writes a region as it is now, or removes it; soon, and once for all changes that are waiting by then.
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
    /// - Parameter work: receives true where everything has been written.
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
            // They are tried again with the next change, and in a while without one.
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
