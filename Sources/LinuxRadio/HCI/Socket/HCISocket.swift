import BeaconModel
import BeaconRadio
import CBluetooth
import CLibrary

/// A raw HCI socket, which reads many packets at a time.
///
/// It owns its descriptor. Any datagram socket that carries HCI packets works; tests use such sockets.
final class HCISocket {
    let descriptor: Int32
    private let packets: OpaquePointer

    /// The number of packets read by one system call: 64 packets are more than a fifth of a second at 300 adverts a
    /// second, and few enough to stay in the first-level cache (17 KB).
    private static let batch = 64

    /// The most bytes queued in the kernel. An advert takes up some 800 bytes there (struct sk_buff and its data), so
    /// this is more than a second at 2 000 adverts a second. A busy machine may keep us from running for that long.
    private static let room: Int32 = 4 << 20

    /// Opens a socket of an adapter for the packets that a session needs: commands of other processes, which show their
    /// effect on our scan, and the events in `HCIEventCode`.
    convenience init(adapter: UInt16) throws(HCISystemError) {
        let descriptor = beacon_hci_open(adapter)
        guard descriptor >= 0 else { throw HCISystemError(errno) }
        try self.init(owning: descriptor)
        beacon_socket_reserve(descriptor, Self.room)
        var filter = beacon_hci_filter(
            types: 1 << UInt32(BEACON_HCI_COMMAND) | 1 << UInt32(BEACON_HCI_EVENT), events: (0, 0), opcode: 0)
        HCIEventCode.needed.forEach { Self.admit($0, to: &filter) }
        guard beacon_hci_set_filter(descriptor, &filter) == 0, beacon_hci_stamp(descriptor) == 0 else {
            throw HCISystemError(errno)
        }
        // Without the privilege the kernel silently removes adverts from the filter.
        var granted = beacon_hci_filter()
        guard beacon_hci_get_filter(descriptor, &granted) == 0 else { throw HCISystemError(errno) }
        guard granted.types == filter.types, granted.events == filter.events else { throw HCISystemError(EPERM) }
    }

    /// Opens a socket that receives only events of added, removed and switched adapters.
    static func ofAdapterEvents() throws(HCISystemError) -> HCISocket {
        let descriptor = beacon_hci_open(UInt16(BEACON_HCI_NO_ADAPTER))
        guard descriptor >= 0 else { throw HCISystemError(errno) }
        let socket = try HCISocket(owning: descriptor)
        var filter = beacon_hci_filter(types: 1 << UInt32(BEACON_HCI_EVENT), events: (0, 0), opcode: 0)
        admit(UInt8(BEACON_HCI_STACK_INTERNAL), to: &filter)
        guard beacon_hci_set_filter(descriptor, &filter) == 0 else { throw HCISystemError(errno) }
        return socket
    }

    /// Takes ownership of a descriptor, which is closed with the socket.
    init(owning descriptor: Int32) throws(HCISystemError) {
        guard let packets = beacon_packets_make(UInt32(Self.batch)) else {
            close(descriptor)
            throw HCISystemError(ENOMEM)
        }
        self.descriptor = descriptor
        self.packets = packets
    }

    deinit {
        close(descriptor)
        beacon_packets_free(packets)
    }

    /// The kernel compares the low six bits of an event's code (hci_sock.c: HCI_FLT_EVENT_BITS).
    private static func admit(_ event: UInt8, to filter: inout beacon_hci_filter) {
        let bit = UInt32(event & 0x3F)
        if bit < 32 { filter.events.0 |= 1 << bit } else { filter.events.1 |= 1 << (bit - 32) }
    }

    /// Reads one batch of available packets, without waiting.
    ///
    /// - Parameter body: called with each packet, from its type byte on, and the time at which the kernel received it
    ///   by the wall clock, or nil if the kernel did not report it. The bytes are valid only during the call.
    /// - Returns: true if the batch was full, so that there may be more.
    /// - Throws: the system's error if the adapter was removed.
    func read(_ body: (RawSpan, Int64?) -> Void) throws(HCISystemError) -> Bool {
        let count = beacon_packets_read(packets, descriptor)
        guard count >= 0 else { throw HCISystemError(errno) }
        for index in 0..<UInt32(count) {
            let packet = beacon_packets_at(packets, index)
            let bytes = UnsafeRawBufferPointer(start: packet.bytes, count: Int(packet.count))
            body(bytes.bytes, packet.time < 0 ? nil : packet.time)
        }
        return count == Self.batch
    }

    /// Writes a packet to the kernel, which queues it.
    func write(_ packet: [UInt8]) throws(HCISystemError) {
        guard CLibrary.write(descriptor, packet, packet.count) == packet.count else { throw HCISystemError(errno) }
    }

    /// The number of packets that the kernel dropped for lack of space since the socket was opened, or nil if the
    /// kernel does not report it.
    var dropped: Int64? {
        let count = beacon_socket_dropped(descriptor)
        return count < 0 ? nil : count
    }

    /// Sets the kernel's packet filter; nil lets all packets through.
    func attach(_ program: [sock_filter]?) throws(HCISystemError) {
        let result =
            if let program {
                beacon_filter_attach(descriptor, program, UInt16(clamping: program.count))
            } else {
                beacon_filter_detach(descriptor)
            }
        guard result == 0 else { throw HCISystemError(errno) }
    }
}

/// A blocking exchange of a command and its answer, for the shutdown of a process.
enum HCIExchange {
    /// The time to wait for an answer, in milliseconds. A working controller needs a few.
    private static let patience: Int32 = 300

    /// Sends a command and waits until the controller answered it.
    ///
    /// - Returns: true if it answered.
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
