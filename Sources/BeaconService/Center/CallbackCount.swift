import Synchronization

/// How many callbacks have been handed on and not been made yet.
///
/// A test that drives time itself waits until there are none, so that whatever a callback asks for is asked at the time at
/// which the callback was due.
final class CallbackCount: Sendable {
    private let count = Atomic<Int>(0)

    var isZero: Bool { count.load(ordering: .acquiring) == 0 }

    func add() { count.add(1, ordering: .acquiringAndReleasing) }
    func remove() { count.subtract(1, ordering: .acquiringAndReleasing) }
}
