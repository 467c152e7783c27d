import BeaconModel

/// Queries a controller's features.
struct FeatureDiscovery {
    private var questions = [HCICommand(.readSupportedCommands), HCICommand(.readLEFeatures)]

    /// The features that the controller has reported.
    private(set) var features = ControllerFeatures()

    /// The next question, or nil if all are answered.
    var next: HCICommand? { questions.first }

    /// Handles the controller's answer to the next question. A refusal means that the feature is missing.
    mutating func answered(_ status: HCIStatus, returned: RawSpan) {
        let opcode = questions.removeFirst().opcode
        guard status == .success else { return }
        switch opcode {
        case .readSupportedCommands:
            features.commands = (0..<returned.byteCount).map { returned[$0] }
        case .readLEFeatures where returned.byteCount >= 8:
            features.hasLE = true
            // Bit 12.
            features.hasExtendedAdvertising = returned[1] & 0x10 != 0
            if features.advertisesExtended { questions.append(HCICommand(.readAdvertisingSetCount)) }
        case .readAdvertisingSetCount where returned.byteCount >= 1:
            features.advertisingSets = Int(returned[0])
        default: break
        }
    }
}

/// The controller features that beacons need, with address and version.
struct ControllerFeatures: Hashable {
    /// Its public address; zero if it has none.
    var address = DeviceAddress(bits: 0, kind: .public)

    /// The version of the Core Specification as HCI numbers it: 6 is 4.0, 9 is 5.0 (assigned numbers, 2.1).
    var version: UInt8 = 0

    /// True if the controller supports LE: LE Read Local Supported Features succeeded.
    var hasLE = false

    /// Bit 12 of the LE features: LE Extended Advertising (Core Specification 5.3, Vol 6, Part B, 4.6).
    var hasExtendedAdvertising = false

    /// The 64 bytes of supported commands, one bit each (Vol 4, Part E, 6.27); empty if it did not report them.
    var commands: [UInt8] = []

    /// The number of its advertising sets.
    var advertisingSets = 1

    /// Returns true if the command at this bit of the supported commands is supported.
    func supports(octet: Int, bit: Int) -> Bool {
        octet < commands.count && commands[octet] >> UInt8(bit) & 1 == 1
    }

    /// True if scans use extended commands: octet 37, bit 5 Set Extended Scan Parameters, bit 6 Set Extended Scan
    /// Enable.
    ///
    /// A controller refuses a mix of both kinds (Vol 4, Part E, 3.1.1), so the result must equal the kernel's, which
    /// checks these two bits (hci_core.h: use_ext_scan).
    var scansExtended: Bool { supports(octet: 37, bit: 5) && supports(octet: 37, bit: 6) }

    /// True if adverts use sets: octet 36, bits 2, 3 and 5 set parameters, data and enable.
    var advertisesExtended: Bool {
        hasExtendedAdvertising && supports(octet: 36, bit: 2) && supports(octet: 36, bit: 3)
            && supports(octet: 36, bit: 5)
    }
}
