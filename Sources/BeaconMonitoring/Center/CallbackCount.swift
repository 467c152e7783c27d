import Dispatch
import Synchronization

/// The work of a center that is under way: callbacks that were submitted and are not made yet and, in a test that
/// drives time itself, the tasks that they woke.
///
/// Such a test waits until nothing is under way, so that requests of a callback are made at the time at which the
/// callback was due.
package final class CallbackCount: Sendable {
    private let count = Atomic<Int>(0)
    private let changeCount = Atomic<UInt64>(0)

    /// True where nothing is under way.
    package var isZero: Bool { count.load(ordering: .acquiring) == 0 }

    /// A number that grows when anything begins or ends, and with each event that a client receives.
    package var changes: UInt64 { changeCount.load(ordering: .acquiring) }

    /// Counts an event that a client receives.
    func noteChange() { changeCount.add(1, ordering: .acquiringAndReleasing) }

    /// Work that is under way for as long as this object lives: until a callback was made, or until the run loop that
    /// should have made it is deallocated.
    package final class Token: Sendable {
        private let owner: CallbackCount

        fileprivate init(_ owner: CallbackCount) {
            self.owner = owner
            owner.count.add(1, ordering: .acquiringAndReleasing)
            owner.noteChange()
        }

        deinit {
            owner.noteChange()
            owner.count.subtract(1, ordering: .acquiringAndReleasing)
        }
    }

    /// Begins work, which ends with the token.
    package func begin() -> Token { Token(self) }

    // MARK: - The center behind some code

    private static let key = DispatchSpecificKey<CallbackCount>()

    /// The count of the center that the current code runs for, as its callback, in its task or on its queue; nil in
    /// other code.
    package static var ofCurrentCode: CallbackCount? {
        BeaconCenter.ofTask?.callbacks ?? DispatchQueue.getSpecific(key: key)
    }

    /// Marks the queue of this count's center.
    func mark(_ queue: DispatchQueue) { queue.setSpecific(key: Self.key, value: self) }
}
