import BeaconRadio
import CSystemBus

/// The functions of libsystemd that talk to a message bus.
enum BusLibrary {
    /// Opens the library where that has not happened yet.
    ///
    /// - Throws: what is missing and which package has it.
    static func open() throws(RadioError) -> UnsafePointer<beacon_bus_functions> {
        var problem: UnsafePointer<CChar>?
        guard let functions = beacon_bus_load(&problem) else {
            let reason = problem.map { String(cString: $0) } ?? "no reason given"
            throw RadioError(
                .unsupported,
                "the library that talks to BlueZ cannot be opened: \(reason). Install it (Debian: apt-get install "
                    + "libsystemd0), or use a raw HCI socket (hci:hci0).")
        }
        return functions
    }
}
