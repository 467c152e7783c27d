import CBluetooth

/// Something that happened to an adapter, as the kernel tells it to sockets of no adapter (hci_sock.c: hci_si_event).
struct AdapterNews: Hashable {
    enum Kind: UInt16 {
        case added = 1
        case removed = 2
        case cameOn = 3
        case wentOff = 4
    }

    let kind: Kind
    let adapter: UInt16

    /// Reads a packet: type, event code, length, kind of news (2), what happened (2), adapter (2).
    ///
    /// - Returns: nil if it is something else.
    init?(packet: RawSpan) {
        func number(_ offset: Int) -> UInt16 { UInt16(packet[offset]) | UInt16(packet[offset + 1]) << 8 }
        guard packet.byteCount >= 9, packet[0] == UInt8(BEACON_HCI_EVENT),
            packet[1] == UInt8(BEACON_HCI_STACK_INTERNAL), number(3) == UInt16(BEACON_HCI_STACK_ADAPTER),
            let kind = Kind(rawValue: number(5))
        else { return nil }
        self.kind = kind
        adapter = number(7)
    }
}
