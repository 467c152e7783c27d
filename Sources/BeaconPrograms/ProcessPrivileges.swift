import CProcess

/// The privileges of this process.
package enum ProcessPrivileges {
    /// Keeps the capabilities of this process from the programs that it starts. It is to be called before the process
    /// has a second thread, since each thread has sets of its own.
    ///
    /// systemd's `AmbientCapabilities` for instance is meant for the daemon and its radio; without this call, whatever a
    /// rule starts could send and receive raw packets as well (capabilities(7)).
    ///
    /// - Returns: false where the kernel refuses.
    package static func withhold() -> Bool { beacon_withhold_capabilities() == 0 }
}
