import BeaconSupport
import Dispatch
import Synchronization

/// The number of operations that are under way: submitted callbacks and, in a test that controls time, tasks.
///
/// Such a test waits until the count is zero, so that the requests of a callback are made at the time of the callback.
package final class WorkCount: Sendable {
    /// A count that is replaced when the work is abandoned.
    fileprivate final class Stretch: Sendable {
        let count = Atomic<Int>(0)
    }

    /// A reference to the present count. Once that count is abandoned, work that begins with the mark is ignored.
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

    /// A number that grows when work begins or ends, and with each event that a client receives.
    package var changes: UInt64 { changeCount.load(ordering: .acquiring) }

    /// Counts an event that a client receives.
    package func noteChange() { changeCount.add(1, ordering: .acquiringAndReleasing) }

    /// Work that is under way for as long as this object lives: until a callback has been made, or until its run loop
    /// is deallocated.
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

    /// A reference to the present count.
    package var mark: Mark { Mark(owner: self, stretch: stretch.withLock { $0 }) }

    /// Begins work, which ends with the token.
    package func begin() -> Token { Token(mark) }

    /// Stops counting the work that is under way.
    package func abandon() {
        stretch.withLock { $0 = Stretch() }
        noteChange()
    }
}

extension BeaconCenter {
    private static let taskCount = DispatchSpecificKey<WorkCount>()

    /// The task count of the center that the current code belongs to: code in its callbacks, in its task or on its
    /// queue. It is nil in other code and for a center without a count.
    package static var taskCountOfCurrentCode: WorkCount? {
        ofTask?.configuration.tasks ?? DispatchQueue.getSpecific(key: taskCount)
    }

    /// Marks the center's queue, so that ``taskCountOfCurrentCode`` recognizes code on it.
    nonisolated func markQueue() {
        if let tasks = configuration.tasks { queue.setSpecific(key: Self.taskCount, value: tasks) }
    }
}
