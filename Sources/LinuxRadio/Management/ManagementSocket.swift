import BeaconModel
import CBluetooth
import Glibc

/// Asks the kernel's Bluetooth management, waiting for the answer.
struct ManagementSocket: ~Copyable {
    private let descriptor: Int32

    /// How long an answer may take; the kernel has it at hand.
    private static let patience: Int64 = 1_000_000_000

    /// The most bytes that an answer has: that of 300 bytes of information, or a list of some hundred adapters.
    private static let room = 1024

    /// - Returns: nil where the process can open no such socket.
    init?() {
        descriptor = beacon_management_open()
        guard descriptor >= 0 else { return nil }
    }

    deinit { close(descriptor) }

    /// All adapters, in the order of their numbers.
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
        // News of adapters comes by the same way, before the answer perhaps.
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
