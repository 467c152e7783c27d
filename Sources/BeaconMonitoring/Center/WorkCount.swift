import BeaconSupport
import Dispatch
import Synchronization

/// The number of pieces of work that are under way: callbacks that were submitted and are not made yet or, in a test
/// that drives time itself, tasks.
///
/// Such a test waits until nothing is under way, so that requests of a callback are made at the time at which the
/// callback was due.
package final class WorkCount: Sendable {
    /// The work that counts together, until it is abandoned.
    fileprivate final class Stretch: Sendable {
        let count = Atomic<Int>(0)
    }

    /// A count until it is abandoned: work that begins for a mark of before does not count.
    package struct Mark: Sendable {
        /// The count.
        package let owner: WorkCount
        fileprivate let stretch: Stretch

        fileprivate var isCurrent: Bool { owner.stretch.withLock { $0 } === stretch }

        /// Begins work, which ends with the token.
        package func begin() -> Token { Token(self) }
    }

    private let stretch = Locked(Stretch())
    private let changeCount = Atomic<UInt64>(0)

    package init() {}

    /// True where nothing is under way.
    package var isZero: Bool { stretch.withLock { $0 }.count.load(ordering: .acquiring) == 0 }

    /// A number that grows when anything begins or ends, and with each event that a client receives.
    package var changes: UInt64 { changeCount.load(ordering: .acquiring) }

    /// Counts an event that a client receives.
    func noteChange() { changeCount.add(1, ordering: .acquiringAndReleasing) }

    /// Work that is under way for as long as this object lives: until a callback was made, or until the run loop that
    /// should have made it is deallocated.
    package final class Token: Sendable {
        /// The count that it belongs to.
        package let mark: Mark

        fileprivate init(_ mark: Mark) {
            self.mark = mark
            mark.stretch.count.add(1, ordering: .acquiringAndReleasing)
            if mark.isCurrent { mark.owner.noteChange() }
        }

        deinit {
            if mark.isCurrent { mark.owner.noteChange() }
            mark.stretch.count.subtract(1, ordering: .acquiringAndReleasing)
        }
    }

    /// The count as it is now.
    package var mark: Mark { Mark(owner: self, stretch: stretch.withLock { $0 }) }

    /// Begins work, which ends with the token.
    package func begin() -> Token { Token(mark) }

    /// Counts no longer what is under way now.
    package func abandon() {
        stretch.withLock { $0 = Stretch() }
        noteChange()
    }
}

extension BeaconCenter {
    private static let taskCount = DispatchSpecificKey<WorkCount>()

    /// The count of tasks of the center that the current code runs for, as its callback, in its task or on its queue.
    /// It is nil in other code, and for a center without a count.
    package static var taskCountOfCurrentCode: WorkCount? {
        ofTask?.configuration.tasks ?? DispatchQueue.getSpecific(key: taskCount)
    }

    /// Lets code on the center's queue be known by ``taskCountOfCurrentCode``.
    nonisolated func markQueue() {
        if let tasks = configuration.tasks { queue.setSpecific(key: Self.taskCount, value: tasks) }
    }
}
