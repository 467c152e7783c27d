import BeaconModel
import BeaconRadio
import CBluetooth
import CLibrary
import CPoll

/// A socket for queries of the kernel's Bluetooth management, which waits for each answer.
struct ManagementSocket: ~Copyable {
    private let descriptor: Int32

    /// The longest wait for an answer, in nanoseconds; the kernel answers from memory.
    private static let patience: Int64 = 1_000_000_000

    /// The most bytes in an answer. Information has 300 bytes; this is enough for a list of some hundred adapters.
    private static let room = 1024

    /// - Returns: nil if the process cannot open such a socket.
    init?() {
        descriptor = beacon_management_open()
        guard descriptor >= 0 else { return nil }
    }

    deinit { close(descriptor) }

    /// Returns all adapters, in the order of their numbers.
    func adapters() -> [AdapterInformation] {
        let none: UInt16 = 0xFFFF
        return (ask(.adapters, adapter: none)?.adapters ?? []).sorted().compactMap {
            ask(.information, adapter: $0)?.information(index: $0)
        }
    }

    private func ask(_ question: ManagementAnswer.Question, adapter: UInt16) -> ManagementAnswer? {
        let bytes = ManagementAnswer.question(question, adapter: adapter)
        guard write(descriptor, bytes, bytes.count) == bytes.count else { return nil }
        let deadline = RadioClock.now().advanced(by: Self.patience)
        var buffer = [UInt8](repeating: 0, count: Self.room)
        // Events of adapters arrive on the same socket, perhaps before the answer.
        while case let left = deadline.since(RadioClock.now()), left > 0 {
            var poll = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard beacon_wait(&poll, 1, left) > 0 else { continue }
            let count = read(descriptor, &buffer, buffer.count)
            guard count > 0 else { return nil }
            if let answer = ManagementAnswer(Array(buffer[..<count]), to: question, adapter: adapter) { return answer }
        }
        return nil
    }
}

/// An answer of the kernel's Bluetooth management, little endian throughout (BlueZ, doc/mgmt-api.txt).
struct ManagementAnswer {
    /// A question.
    enum Question: UInt16 {
        /// Read Controller Index List.
        case adapters = 0x0003
        /// Read Controller Information.
        case information = 0x0004
    }

    private let parameters: ArraySlice<UInt8>

    /// Creates the answer from a packet, if it answers this question and reports success.
    ///
    /// A header has opcode, adapter and length. The event Command Complete has the question's opcode, a status and the
    /// answer.
    init?(_ packet: [UInt8], to question: Question, adapter: UInt16) {
        guard packet.count >= 9, Self.number(packet[0...], at: 0) == Self.commandComplete,
            Self.number(packet[0...], at: 2) == adapter, Self.number(packet[0...], at: 6) == question.rawValue,
            packet[8] == 0
        else { return nil }
        parameters = packet[9...]
    }

    private static let commandComplete: UInt16 = 0x0001

    /// Returns the bytes of a question.
    static func question(_ question: Question, adapter: UInt16) -> [UInt8] {
        [question.rawValue, adapter, 0].flatMap { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] }
    }

    /// The numbers of the adapters. The packet has their count, then each number.
    var adapters: [UInt16] {
        guard parameters.count >= 2 else { return [] }
        let count = min(Int(Self.number(parameters, at: 0)), (parameters.count - 2) / 2)
        return (0..<count).map { Self.number(parameters, at: 2 + $0 * 2) }
    }

    /// Reads the information about one adapter: address, version, manufacturer, supported features and current
    /// settings.
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

/// The kernel's information about an adapter, which is available without permissions.
struct AdapterInformation: Hashable {
    /// The features of an adapter, supported or current (BlueZ, doc/mgmt-api.txt, Read Controller Information).
    struct Settings: OptionSet, Hashable {
        let rawValue: UInt32

        /// It is switched on.
        static let powered = Settings(rawValue: 1 << 0)
        /// Bluetooth Low Energy, which beacons use.
        static let lowEnergy = Settings(rawValue: 1 << 9)
    }

    /// The kernel's number of the adapter.
    var index: UInt16

    /// The adapter's address; 0 for a controller without one.
    var addressBits: UInt64

    /// The version of the controller's HCI by its number (Bluetooth Assigned Numbers, 2.1).
    var version: UInt8

    /// The supported features.
    var supported: Settings

    /// The current settings.
    var current: Settings

    /// `hci0`.
    var name: String { "hci\(index)" }

    /// The adapter's address.
    var address: DeviceAddress { DeviceAddress(bits: addressBits, kind: .public) }

    /// The version as people know it, such as `5.2`; nil if it is newer than this table.
    var versionName: String? {
        let names = [
            "1.0b", "1.1", "1.2", "2.0", "2.1", "3.0", "4.0", "4.1", "4.2", "5.0", "5.1", "5.2", "5.3", "5.4", "6.0",
        ]
        return names.indices.contains(Int(version)) ? names[Int(version)] : nil
    }
}
