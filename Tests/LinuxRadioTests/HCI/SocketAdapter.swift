import BeaconSupport
import Dispatch
import Glibc

@testable import LinuxRadio

/// An adapter at the other end of a socket: it answers commands and, once it scans, sends packets as fast as the socket
/// accepts them.
final class SocketAdapter: Sendable {
    private let end: Int32
    private let finished = DispatchSemaphore(value: 0)
    private let isOver = Locked(false)
    private let queue = DispatchQueue(label: "socket-adapter")

    /// Takes ownership of a descriptor.
    init(_ end: Int32) { self.end = end }

    deinit { close(end) }

    /// Begins to answer.
    ///
    /// - Parameters:
    /// - controller: the controller that answers.
    /// - count: the number of packets to send during a scan.
    /// - packet: returns the packet with a number.
    /// - isOver: returns true once the controller has done everything expected.
    func start(
        _ controller: VirtualController, sending count: Int = 0,
        packet: @escaping @Sendable (Int) -> [UInt8] = { _ in [] },
        until isOver: @escaping @Sendable (VirtualController) -> Bool
    ) {
        // The closure keeps the adapter and so the descriptor: a closed number may soon belong to another socket.
        queue.async { [self] in
            var controller = controller
            var sent = 0
            var buffer = [UInt8](repeating: 0, count: 300)
            while !isOver(controller) {
                var wait = pollfd(fd: end, events: Int16(POLLIN), revents: 0)
                let isSending = controller.isScanning && sent < count
                guard poll(&wait, 1, isSending ? 0 : 10_000) > 0 || isSending else { break }
                if wait.revents & Int16(POLLIN) != 0 {
                    let length = read(end, &buffer, buffer.count)
                    let bytes = Array(buffer.prefix(max(length, 0)))
                    guard let command = HCICommand(packet: bytes.span.bytes) else { break }
                    if let event = controller.receive(command) { Self.send([0x04] + event, to: end) }
                } else if isSending {
                    Self.send(packet(sent), to: end)
                    sent += 1
                } else {
                    break
                }
            }
            let isDone = isOver(controller)
            self.isOver.withLock { $0 = isDone }
            finished.signal()
        }
    }

    /// Waits until the adapter has seen the end of the session.
    ///
    /// - Returns: false after a time-out.
    func wait() -> Bool { finished.wait(timeout: .now() + 20) == .success && isOver.withLock { $0 } }

    private static func send(_ packet: [UInt8], to end: Int32) {
        while write(end, packet, packet.count) < 0, errno == EAGAIN || errno == EINTR || errno == ENOBUFS {
            sched_yield()
        }
    }
}
