import CLibrary
import CSystemBus

/// An error of a call over the bus, or of the bus itself.
struct BusError: Error, Hashable, CustomStringConvertible {
    /// The error's name on the bus, such as `org.bluez.Error.NotReady`, or `System.Error.` and a number if the library
    /// itself failed.
    var name: String

    /// The message of the other side or of the system.
    var message: String

    init(_ name: String, _ message: String) {
        self.name = name
        self.message = message
    }

    /// Creates an error from a result of the library: a negative error number.
    init(status: Int32) {
        self.init("System.Error.\(-status)", String(cString: strerror(-status)))
    }

    init(_ error: sd_bus_error) {
        self.init(
            error.name.map { String(cString: $0) } ?? "", error.message.map { String(cString: $0) } ?? "")
    }

    /// The error number if the library itself failed.
    var number: Int32? { name.hasPrefix("System.Error.") ? Int32(name.dropFirst(13)) : nil }

    /// True if the bus, its policy or the called service forbids it.
    var isDenial: Bool {
        number == EACCES || number == EPERM || name == "org.freedesktop.DBus.Error.AccessDenied"
            || name == "org.freedesktop.DBus.Error.AuthFailed"
    }

    /// True if the name that was called has no owner on the bus.
    var isAbsence: Bool {
        name == "org.freedesktop.DBus.Error.ServiceUnknown" || name == "org.freedesktop.DBus.Error.NameHasNoOwner"
            || name.hasPrefix("org.freedesktop.DBus.Error.Spawn.")
    }

    var description: String {
        if message.isEmpty { return name }
        return name.isEmpty || number != nil ? message : "\(message) (\(name))"
    }
}

extension Int32 {
    /// Throws the library's result if it is an error.
    @discardableResult
    func checked() throws(BusError) -> Int32 {
        if self < 0 { throw BusError(status: self) }
        return self
    }
}
