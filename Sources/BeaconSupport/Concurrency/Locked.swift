import CLibrary

/// A value that one thread at a time may use.
///
/// It does what the standard library's `Mutex` does, with the system's mutex. Thread Sanitizer knows that one and
/// cannot see into the other on Linux, so that it would report races in every program that is built on this one and has
/// none.
///
/// It is unchecked because the value lies behind a pointer. The value comes in by `sending`, is reached only while the
/// mutex is held, and nothing of it goes out but by `sending`.
package final class Locked<Value>: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let value: UnsafeMutablePointer<Value>

    /// Creates a lock around a value.
    package init(_ value: consuming sending Value) {
        mutex = .allocate(capacity: 1)
        mutex.initialize(to: pthread_mutex_t())
        // It fails only for want of memory.
        pthread_mutex_init(mutex, nil)
        self.value = .allocate(capacity: 1)
        self.value.initialize(to: value)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
        value.deinitialize(count: 1)
        value.deallocate()
    }

    /// Calls `body` with the value while no other thread uses it. `body` must not call this again, which would wait for
    /// ever.
    package func withLock<Result, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&value.pointee)
    }
}
