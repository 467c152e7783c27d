import BeaconRadio
import CLibrary

/// A system error from a call about an adapter.
struct HCISystemError: Error, Hashable, CustomStringConvertible {
    /// The value of `errno`.
    let number: Int32

    init(_ number: Int32) { self.number = number }

    /// The adapter was removed: unplugged, or its driver unloaded.
    var isAbsence: Bool { [ENODEV, EPIPE, EBADF, EBADFD, ENXIO].contains(number) }

    /// The process lacks a privilege.
    var isRefusal: Bool { number == EPERM || number == EACCES }

    /// A switch keeps the radio off (rfkill).
    var isBlock: Bool { number == ERFKILL }

    /// The system's error message.
    var description: String { String(cString: strerror(number)) }
}

/// The permissions for raw HCI, and how to get them.
enum HCIPermission {
    /// The command that allows this program to use raw HCI: CAP_NET_RAW to receive adverts and send commands,
    /// CAP_NET_ADMIN to switch adapters on (capabilities(7)).
    static var remedy: String {
        "Run as root, or once: sudo setcap cap_net_raw,cap_net_admin+eip \(program)"
    }

    /// Returns an error that explains why an adapter cannot be used, with a remedy.
    static func error(_ error: HCISystemError, adapter: String?) -> RadioError {
        let name = adapter ?? "Bluetooth"
        if error.isRefusal {
            return RadioError(.notPermitted, "this process may not use \(name) by raw HCI. \(remedy)")
        }
        if error.number == EAFNOSUPPORT {
            return RadioError(
                .unsupported,
                "the kernel has no Bluetooth. Load it: sudo modprobe bluetooth; in a container, on the host.")
        }
        if error.isAbsence { return RadioError(.unsupported, "\(name) was removed. Plug it in again.") }
        return RadioError(.failed, "\(name) could not be opened: \(error).")
    }

    private static var program: String {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(PATH_MAX)) { path in
            guard let base = path.baseAddress else { return "PROGRAM" }
            let count = readlink("/proc/self/exe", base, path.count)
            guard count > 0 else { return "PROGRAM" }
            return String(decoding: path[..<count].map { UInt8(truncatingIfNeeded: $0) }, as: UTF8.self)
        }
    }
}
