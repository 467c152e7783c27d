import CLibrary

/// The arguments of this process.
package enum ProgramArguments {
    /// Why they are not known, with the remedy; nil where they are.
    ///
    /// Swift reads them from the kernel's file system of processes (proc(5)); without it, each command would run as if
    /// it had none.
    package static var obstacle: String? {
        guard access("/proc/self/cmdline", R_OK) != 0 else { return nil }
        return "/proc is not there, without which a program does not know its arguments. Mount it, as in: "
            + "mount -t proc proc /proc"
    }
}
