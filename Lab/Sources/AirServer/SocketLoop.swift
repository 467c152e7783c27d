import Glibc
import LabAir
import VirtualController

/// Carries bytes and time between a laboratory and the sockets, until all peers have disconnected.
struct SocketLoop {
    private var laboratory: Laboratory
    private let control: Socket

    /// A socket for each controller.
    private let hosts: [Socket]

    /// The guest's incomplete command, and the answers to send.
    private var line: [UInt8] = []
    private var answer: [UInt8] = []

    /// Creates the sockets. The control socket is the last one, so that a process that waits for it finds all of them.
    init(_ laboratory: Laboratory, directory: String) throws {
        self.laboratory = laboratory
        hosts = try laboratory.controllers.indices.map { try Socket(path: "\(directory)/hci\($0)") }
        control = try Socket(path: "\(directory)/control")
    }

    /// Runs until all peers have disconnected.
    mutating func run() throws {
        while !isOver {
            try wait()
            for (index, host) in hosts.enumerated() {
                let bytes = host.read()
                if !bytes.isEmpty { laboratory.receive(bytes, controller: index, at: now()) }
            }
            obey(control.read())
            laboratory.advance(to: now())
            for (index, host) in hosts.enumerated() {
                laboratory.removeOutput(host.write(laboratory.controllers[index].output), of: index)
            }
            answer.removeFirst(control.write(answer))
        }
    }

    private var isOver: Bool {
        control.hadPeer && !control.hasPeer && hosts.allSatisfy { !$0.hasPeer }
    }

    private mutating func obey(_ bytes: [UInt8]) {
        for byte in bytes {
            if byte != UInt8(ascii: "\n") {
                line.append(byte)
            } else {
                answer += Array(laboratory.obey(String(decoding: line, as: UTF8.self), at: now()).utf8) + [byte]
                line.removeAll()
            }
        }
    }

    /// Waits until a peer sends or accepts bytes, or something is due.
    private func wait() throws {
        var polled = hosts.indices.map { index in
            entry(hosts[index].descriptor, writes: !laboratory.controllers[index].output.isEmpty)
        }
        polled.append(entry(control.descriptor, writes: !answer.isEmpty))
        let rest = laboratory.deadline.map { max(0, $0 - now()) } ?? 1_000_000_000
        // Whole milliseconds, rounded up so that the loop does not run in vain.
        let timeout = Int32(min(1000, (rest + 999_999) / 1_000_000))
        guard poll(&polled, nfds_t(polled.count), timeout) >= 0 || errno == EINTR else {
            throw SocketError("cannot wait for the sockets", errno)
        }
    }

    private func entry(_ descriptor: Int32, writes: Bool) -> pollfd {
        pollfd(fd: descriptor, events: Int16(POLLIN | (writes ? POLLOUT : 0)), revents: 0)
    }

    private func now() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
