import CLibrary

/// A value that only one thread at a time can use.
///
/// It does the same as the standard library's `Mutex`, but with the system's mutex. On Linux, Thread Sanitizer knows
/// only the latter. With `Mutex` it would report false races in every program that uses this package.
///
/// It is unchecked because the value is stored behind a pointer. The value enters by `sending`, is only accessed while
/// the mutex is held, and leaves only by `sending`.
package final class Locked<Value>: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let value: UnsafeMutablePointer<Value>

    /// Creates a lock around a value.
    package init(_ value: consuming sending Value) {
        mutex = .allocate(capacity: 1)
        mutex.initialize(to: pthread_mutex_t())
        // This fails only if there is no memory.
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

    /// Calls `body` with the value while no other thread uses it. `body` must not call this function again; that call
    /// would wait forever.
    package func withLock<Result, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&value.pointee)
    }
}
