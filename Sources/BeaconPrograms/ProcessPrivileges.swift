import CProcess

/// The privileges of this process.
package enum ProcessPrivileges {
    /// Puts the capabilities into effect that this process is permitted, and keeps them from the programs that it
    /// starts. It is to be called before the process has a second thread, since each thread has sets of its own.
    ///
    /// The file of a program in a container's image has them permitted alone: with them in effect, the kernel would not
    /// run it in a container that is not given them.
    ///
    /// systemd's `AmbientCapabilities` for instance is meant for the daemon and its radio; without this call, whatever
    /// a rule starts could send and receive raw packets as well (capabilities(7)).
    ///
    /// - Returns: false where the kernel does not keep them from others.
    package static func settle() -> Bool {
        // What cannot be put into effect is missed by what needs it, which tells it.
        _ = beacon_take_capabilities()
        return beacon_withhold_capabilities() == 0
    }
}
