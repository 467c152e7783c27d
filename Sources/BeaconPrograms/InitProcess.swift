import CLibrary

/// The first process of a container.
///
/// The kernel gives it a duty that programs do not expect: each process whose parent has ended becomes its child, and
/// stays in the process table until it is waited for (pid_namespaces(7)). When the first process ends, the kernel kills
/// all others, even the guardian that stops adverts.
package enum InitProcess {
    /// How long other processes may run after the program has ended, in seconds.
    private static let patience = 3

    /// Runs the same program as a child if this process is the first one; else does nothing.
    ///
    /// In the first process, it does not return: it forwards signals, waits for every process that ends, and ends with
    /// the child's status. Call it before the process has a second thread, since each thread blocks signals separately.
    package static func superviseIfFirst() {
        guard getpid() == 1, let status = supervise() else { return }
        exit(status)
    }

    private static func supervise() -> Int32? {
        var all = sigset_t()
        var before = sigset_t()
        sigfillset(&all)
        pthread_sigmask(SIG_BLOCK, &all, &before)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        // A separate group, so that Ctrl-C reaches the program once, from the terminal, and not from here too.
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP))
        posix_spawnattr_setsigmask(&attributes, &before)
        posix_spawnattr_setpgroup(&attributes, 0)
        var child = pid_t()
        let error = posix_spawn(&child, "/proc/self/exe", nil, &attributes, CommandLine.unsafeArgv, environ)
        posix_spawnattr_destroy(&attributes)
        guard error == 0 else {
            // Without a child, this process does the work itself.
            pthread_sigmask(SIG_SETMASK, &before, nil)
            return nil
        }
        if isatty(STDIN_FILENO) == 1 { tcsetpgrp(STDIN_FILENO, child) }
        var status: Int32?
        while status == nil {
            let number = sigwaitinfo(&all, nil)
            if number == SIGCHLD { status = reap(child) } else if number > 0 { kill(child, number) }
        }
        // The remaining processes stop their adverts and end.
        var limit = timespec(tv_sec: patience, tv_nsec: 0)
        while true {
            // One signal can stand for several ended processes.
            var ended = pid_t()
            repeat { ended = waitpid(-1, nil, WNOHANG) } while ended > 0
            guard ended == 0, sigtimedwait(&all, nil, &limit) == SIGCHLD else { break }
        }
        return status
    }

    /// Waits for all processes that have ended.
    ///
    /// - Returns: the status of the child in a shell's form, if the child has ended.
    private static func reap(_ child: pid_t) -> Int32? {
        var found: Int32?
        var status: Int32 = 0
        while case let process = waitpid(-1, &status, WNOHANG), process > 0 {
            // wait(2): the low seven bits are the signal that ended it, the next byte is its status.
            if process == child { found = status & 0x7F == 0 ? status >> 8 & 0xFF : 128 + (status & 0x7F) }
        }
        return found
    }
}
