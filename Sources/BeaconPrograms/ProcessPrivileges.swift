import CProcess

/// The privileges and limits of this process.
package enum ProcessPrivileges {
    /// Enables the capabilities that this process is permitted, and withholds them from programs that it starts. Also
    /// raises the number of descriptors that it may open.
    ///
    /// Call it before the process has a second thread, since each thread has its own sets.
    ///
    /// In a container image, the file of a program has the capabilities only as permitted. If they were effective, the
    /// kernel would not run the program in a container that lacks them.
    ///
    /// For instance, systemd's `AmbientCapabilities` are meant for the daemon and its radio. Without this call, the
    /// programs of rules could also send and receive raw packets (capabilities(7)).
    ///
    /// - Returns: false if the kernel does not withhold them.
    package static func settle() -> Bool {
        beacon_raise_file_limit()
        // A missing capability causes an error where it is needed.
        _ = beacon_take_capabilities()
        return beacon_withhold_capabilities() == 0
    }
}
