import Synchronization

/// The number of callbacks that were submitted and are not made so far.
///
/// A test that drives time itself waits until there are none, so that whatever a callback asks for is asked at the time
/// at which the callback was due.
final class CallbackCount: Sendable {
    private let count = Atomic<Int>(0)

    var isZero: Bool { count.load(ordering: .acquiring) == 0 }

    /// A callback that is under way for as long as this object lives: until it was made, or until the run loop that
    /// should have made it is deallocated.
    final class Token: Sendable {
        private let owner: CallbackCount

        fileprivate init(_ owner: CallbackCount) {
            self.owner = owner
            owner.count.add(1, ordering: .acquiringAndReleasing)
        }

        deinit { owner.count.subtract(1, ordering: .acquiringAndReleasing) }
    }

    func begin() -> Token { Token(self) }
}
