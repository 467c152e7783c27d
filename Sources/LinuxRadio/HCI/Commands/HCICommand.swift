import BeaconModel

/// One HCI command, ready to be sent (Core Specification 5.3, Vol 4, Part E, 5.4.1).
struct HCICommand: Hashable {
    let opcode: HCIOpcode
    let parameters: [UInt8]

    init(_ opcode: HCIOpcode, _ parameters: [UInt8] = []) {
        self.opcode = opcode
        self.parameters = parameters
    }

    /// Reads a packet that somebody sent: type, opcode, length, parameters.
    ///
    /// - Returns: nil if it is no whole command.
    init?(packet: RawSpan) {
        guard packet.byteCount >= 4, packet[0] == Self.packetType else { return nil }
        let count = Int(packet[3])
        guard packet.byteCount >= 4 + count else { return nil }
        opcode = HCIOpcode(rawValue: UInt16(packet[1]) | UInt16(packet[2]) << 8)
        parameters = (0..<count).map { packet[4 + $0] }
    }

    /// The byte before each command on the way to a controller (Vol 4, Part A, 2).
    static let packetType: UInt8 = 0x01

    /// As it is written to a socket: type, opcode, length, parameters.
    var packet: [UInt8] {
        [
            Self.packetType, UInt8(truncatingIfNeeded: opcode.rawValue), UInt8(opcode.rawValue >> 8),
            UInt8(parameters.count),
        ] + parameters
    }
}
