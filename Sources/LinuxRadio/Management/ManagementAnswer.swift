/// Answers of the kernel's Bluetooth management, as its interface lays them out (BlueZ, doc/mgmt-api.txt): little endian
/// throughout.
struct ManagementAnswer {
    /// What was asked.
    enum Question: UInt16 {
        /// Read Controller Index List.
        case adapters = 0x0003
        /// Read Controller Information.
        case information = 0x0004
    }

    private let parameters: ArraySlice<UInt8>

    /// A packet that was read, if it is the answer to this question and tells of success.
    ///
    /// A header has opcode, adapter and length; the event Command Complete has the question's opcode, a status and what
    /// was asked for.
    init?(_ packet: [UInt8], to question: Question, adapter: UInt16) {
        guard packet.count >= 9, Self.number(packet[0...], at: 0) == Self.commandComplete,
            Self.number(packet[0...], at: 2) == adapter, Self.number(packet[0...], at: 6) == question.rawValue,
            packet[8] == 0
        else { return nil }
        parameters = packet[9...]
    }

    private static let commandComplete: UInt16 = 0x0001

    /// The bytes that ask.
    static func question(_ question: Question, adapter: UInt16) -> [UInt8] {
        [question.rawValue, adapter, 0].flatMap { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] }
    }

    /// The numbers of the adapters there are: how many, then each.
    var adapters: [UInt16] {
        guard parameters.count >= 2 else { return [] }
        let count = min(Int(Self.number(parameters, at: 0)), (parameters.count - 2) / 2)
        return (0..<count).map { Self.number(parameters, at: 2 + $0 * 2) }
    }

    /// What is told of one adapter: address, version, manufacturer, what it supports, and how it is set.
    func information(index: UInt16) -> AdapterInformation? {
        guard parameters.count >= 17 else { return nil }
        let start = parameters.startIndex
        let bits = parameters[start..<start + 6].reversed().reduce(0) { $0 << 8 | UInt64($1) }
        return AdapterInformation(
            index: index, addressBits: bits, version: parameters[start + 6],
            supported: Self.settings(parameters, at: 9), current: Self.settings(parameters, at: 13))
    }

    private static func settings(_ bytes: ArraySlice<UInt8>, at offset: Int) -> AdapterInformation.Settings {
        AdapterInformation.Settings(
            rawValue: UInt32(number(bytes, at: offset)) | UInt32(number(bytes, at: offset + 2)) << 16)
    }

    private static func number(_ bytes: ArraySlice<UInt8>, at offset: Int) -> UInt16 {
        UInt16(bytes[bytes.startIndex + offset]) | UInt16(bytes[bytes.startIndex + offset + 1]) << 8
    }
}
