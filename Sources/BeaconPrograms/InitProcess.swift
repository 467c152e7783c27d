import CLibrary

/// The first process of a container, on which the kernel puts a duty that a program does not expect: each process whose
/// parent has ended becomes its child, and stays in the table of processes until it is waited for (pid_namespaces(7)).
/// When the first process ends, the kernel kills all others: also the guardian that takes adverts off the air.
package enum InitProcess {
    /// The time that other processes have to end after the program has.
    private static let patience = 3

    /// Where this process is the first one, runs the same program as its child, hands on signals, waits for every
    /// process that ends, and ends with the child's status; it does not return then. Elsewhere it does nothing.
    ///
    /// It is to be called before the process has a second thread, since signals are blocked for each thread.
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
        // A group of its own, so that Ctrl-C reaches the program once, from the terminal, and not from here too.
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP))
        posix_spawnattr_setsigmask(&attributes, &before)
        posix_spawnattr_setpgroup(&attributes, 0)
        var child = pid_t()
        let error = posix_spawn(&child, "/proc/self/exe", nil, &attributes, CommandLine.unsafeArgv, environ)
        posix_spawnattr_destroy(&attributes)
        guard error == 0 else {
            // Without a child, this process does the work itself, as it did without being the first.
            pthread_sigmask(SIG_SETMASK, &before, nil)
            return nil
        }
        if isatty(STDIN_FILENO) == 1 { tcsetpgrp(STDIN_FILENO, child) }
        var status: Int32?
        while status == nil {
            let number = sigwaitinfo(&all, nil)
            if number == SIGCHLD { status = reap(child) } else if number > 0 { kill(child, number) }
        }
        // Those that are left take back what they have on the air, and end.
        var limit = timespec(tv_sec: patience, tv_nsec: 0)
        while true {
            // Several may have ended by one signal.
            var ended = pid_t()
            repeat { ended = waitpid(-1, nil, WNOHANG) } while ended > 0
            guard ended == 0, sigtimedwait(&all, nil, &limit) == SIGCHLD else { break }
        }
        return status
    }

    /// Waits for all processes that have ended.
    ///
    /// - Returns: the status of the child, as a shell would give it, where it is among them.
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
