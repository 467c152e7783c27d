import Glibc

/// What the system answered to a call that concerns an adapter.
struct HCISystemError: Error, Hashable, CustomStringConvertible {
    /// The number, as `errno` gave it.
    let number: Int32

    init(_ number: Int32) { self.number = number }

    /// The adapter is gone: unplugged, or its driver unloaded.
    var isAbsence: Bool { [ENODEV, EPIPE, EBADF, EBADFD, ENXIO].contains(number) }

    /// The process lacks a privilege.
    var isRefusal: Bool { number == EPERM || number == EACCES }

    /// A switch keeps the radio off (rfkill).
    var isBlock: Bool { number == ERFKILL }

    /// The system's words.
    var description: String { String(cString: strerror(number)) }
}
