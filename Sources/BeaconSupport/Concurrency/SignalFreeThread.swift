import CLibrary

/// A detached thread that gets none of the process's signals, for a C library that blocks and starts threads.
package enum SignalFreeThread {
    private final class Box {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    /// Starts a thread.
    ///
    /// Threads that a library starts from it inherit its mask. With it, writing to a closed connection raises no
    /// SIGPIPE in the process (libmosquitto calls write(2)).
    ///
    /// - Returns: `false` if the system cannot create another thread.
    package static func start(_ body: @escaping @Sendable () -> Void) -> Bool {
        let context = Unmanaged.passRetained(Box(body))
        var thread = pthread_t()
        let result = pthread_create(
            &thread, nil,
            { context in
                var signals = sigset_t()
                sigfillset(&signals)
                pthread_sigmask(SIG_BLOCK, &signals, nil)
                if let context { Unmanaged<Box>.fromOpaque(context).takeRetainedValue().body() }
                return nil
            }, context.toOpaque())
        guard result == 0 else {
            context.release()
            return false
        }
        pthread_detach(thread)
        return true
    }
}
