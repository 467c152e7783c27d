/// The kinds of records on Linux's monitor channel that matter here (BlueZ, `btsnoop.h`).
enum LinuxMonitor {
    /// A controller appeared: type, bus, address (6), name (8).
    static let newIndex: UInt16 = 0
    /// An HCI event.
    static let event: UInt16 = 3
    /// Something that concerns no controller.
    static let noController: UInt16 = 0xFFFF
}
