/// The framing of a captured packet, independent of its number in a file format.
enum LinkType: Equatable {
    /// HCI packets after a byte for their type: UART transport, "H4".
    case hciH4
    /// The same after four bytes for the direction.
    case hciH4WithDirection
    /// HCI packets whose type is in the record's header: "H1".
    case hciTypedByRecord
    /// Linux's monitor channel, with controller and kind before the packet.
    case linuxMonitor
    /// Linux's monitor channel, with controller and kind in the record's header.
    case linuxMonitorTypedByRecord
    /// Link layer packets, from the access address on.
    case linkLayer
    /// Link layer packets after a sniffer's header of ten bytes.
    case linkLayerWithHeader
    /// Link layer packets after the header of Nordic's sniffers.
    case nordicSniffer

    /// Creates the link type of a number in pcap and pcapng (tcpdump.org, "Link-layer header types").
    init?(pcap number: UInt16) {
        switch number {
        case 187: self = .hciH4
        case 201: self = .hciH4WithDirection
        case 251: self = .linkLayer
        case 254: self = .linuxMonitor
        case 256: self = .linkLayerWithHeader
        case 272: self = .nordicSniffer
        default: return nil
        }
    }

    /// Creates the link type of a datalink in btsnoop (BlueZ, `btsnoop.h`; Wireshark, `wiretap/btsnoop.c`).
    init?(btsnoop number: UInt32) {
        switch number {
        case 1001: self = .hciTypedByRecord
        case 1002: self = .hciH4
        case 2001: self = .linuxMonitorTypedByRecord
        default: return nil
        }
    }

    /// The prefix for the names of unnamed receivers.
    var receiverPrefix: String {
        switch self {
        case .linkLayer, .linkLayerWithHeader, .nordicSniffer: "sniffer"
        default: "hci"
        }
    }
}

/// The relevant kinds of records on Linux's monitor channel (BlueZ, `btsnoop.h`).
enum LinuxMonitor {
    /// A controller appeared: type, bus, address (6), name (8).
    static let newIndex: UInt16 = 0
    /// An HCI event.
    static let event: UInt16 = 3
    /// The index of records without a controller.
    static let noController: UInt16 = 0xFFFF
}
