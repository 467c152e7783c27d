import Glibc

/// The process as a whole.
enum Process {
    /// Ends the process with this status.
    static func exit(_ status: Int32) -> Never {
        fflush(nil)
        Glibc.exit(status)
    }
}
