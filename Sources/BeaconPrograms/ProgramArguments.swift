import CLibrary

/// The arguments of this process.
package enum ProgramArguments {
    /// The reason why the arguments are unknown, with the remedy; nil if they are known.
    ///
    /// Swift reads the arguments from proc(5). Without it, each command would run as if it had none.
    package static var obstacle: String? {
        guard access("/proc/self/cmdline", R_OK) != 0 else { return nil }
        return "/proc is missing, and a program needs it to read its arguments. Mount it, as in: "
            + "mount -t proc proc /proc"
    }
}
