import BeaconModel

/// What a controller can do, as far as it matters here, and how it names itself.
struct ControllerFeatures: Hashable {
    /// Its public address, zero where it has none.
    var address = DeviceAddress(bits: 0, kind: .public)

    /// The version of the Core Specification as HCI numbers it: 6 is 4.0, 9 is 5.0 (assigned numbers, 2.1).
    var version: UInt8 = 0

    /// Whether LE is there at all: LE Read Local Supported Features succeeded.
    var hasLE = false

    /// Bit 12 of the LE features: LE Extended Advertising (Core Specification 5.3, Vol 6, Part B, 4.6).
    var hasExtendedAdvertising = false

    /// The 64 bytes of supported commands, a bit each (Vol 4, Part E, 6.27), or nothing where it did not tell.
    var commands: [UInt8] = []

    /// How many advertising sets it has.
    var advertisingSets = 1

    /// Whether the command at this bit of the supported commands is there.
    func supports(octet: Int, bit: Int) -> Bool {
        octet < commands.count && commands[octet] >> UInt8(bit) & 1 == 1
    }

    /// Whether to scan by extended commands: octet 37, bit 5 Set Extended Scan Parameters, bit 6 Set Extended Scan Enable.
    ///
    /// A controller refuses whoever mixes both kinds (Vol 4, Part E, 3.1.1), so this has to come out as in the kernel, which
    /// looks at these two bits (hci_core.h: use_ext_scan).
    var scansExtended: Bool { supports(octet: 37, bit: 5) && supports(octet: 37, bit: 6) }

    /// Whether to advertise by sets: octet 36, bits 2, 3 and 5 set parameters, data and enable.
    var advertisesExtended: Bool {
        hasExtendedAdvertising && supports(octet: 36, bit: 2) && supports(octet: 36, bit: 3)
            && supports(octet: 36, bit: 5)
    }
}
