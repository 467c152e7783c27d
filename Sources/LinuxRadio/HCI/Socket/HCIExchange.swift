import BeaconModel
import CBluetooth
import Glibc

/// A command and its answer, waited for: for the moment in which a process takes leave of its adapter.
enum HCIExchange {
    /// How long to wait for an answer, in milliseconds. A living controller needs a few.
    private static let patience: Int32 = 300

    /// Sends a command and waits until the controller did it.
    ///
    /// - Returns: whether it answered.
    static func send(_ command: HCICommand, over socket: HCISocket) -> Bool {
        guard (try? socket.write(command.packet)) != nil else { return false }
        var isAnswered = false
        var wait = pollfd(fd: socket.descriptor, events: Int16(POLLIN), revents: 0)
        let end = RadioClock.now().advanced(by: Int64(patience) * 1_000_000)
        while !isAnswered {
            let left = end.since(RadioClock.now()) / 1_000_000
            guard left > 0, poll(&wait, 1, Int32(left)) != 0 else { return false }
            do {
                _ = try socket.read { packet, _ in
                    guard packet.byteCount >= 7, packet[0] == UInt8(BEACON_HCI_EVENT) else { return }
                    let place =
                        packet[1] == HCIEventCode.commandComplete
                        ? 4 : packet[1] == HCIEventCode.commandStatus ? 5 : nil
                    guard let place else { return }
                    isAnswered =
                        isAnswered
                        || UInt16(packet[place]) | UInt16(packet[place + 1]) << 8 == command.opcode.rawValue
                }
            } catch { return false }
        }
        return true
    }
}
