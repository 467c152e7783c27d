/// How a captured packet is wrapped, under one name whatever number a file format gives it.
enum LinkType: Equatable {
    /// HCI packets behind a byte that tells their type: UART transport, "H4".
    case hciH4
    /// The same behind four bytes that tell the direction.
    case hciH4WithDirection
    /// HCI packets whose type is told by the record: "H1".
    case hciTypedByRecord
    /// Linux's monitor channel, with controller and kind before the packet.
    case linuxMonitor
    /// Linux's monitor channel, with controller and kind told by the record.
    case linuxMonitorTypedByRecord
    /// Link layer packets from the access address on.
    case linkLayer
    /// Link layer packets behind a header of ten bytes that a sniffer filled in.
    case linkLayerWithHeader
    /// Link layer packets behind the header of Nordic's sniffers.
    case nordicSniffer

    /// The numbers of pcap and pcapng (tcpdump.org, "Link-layer header types").
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

    /// The numbers of btsnoop (BlueZ, `btsnoop.h`; Wireshark, `wiretap/btsnoop.c`).
    init?(btsnoop number: UInt32) {
        switch number {
        case 1001: self = .hciTypedByRecord
        case 1002: self = .hciH4
        case 2001: self = .linuxMonitorTypedByRecord
        default: return nil
        }
    }

    /// What receivers of such packets are called where the file does not name them.
    var receiverPrefix: String {
        switch self {
        case .linkLayer, .linkLayerWithHeader, .nordicSniffer: "sniffer"
        default: "hci"
        }
    }
}
