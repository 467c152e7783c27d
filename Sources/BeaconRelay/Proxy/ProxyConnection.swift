import BeaconModel
import BeaconReceivers
import BeaconSupport
import CLibrary

/// A port at which clients connect.
struct ProxyListener {
    /// Its socket.
    let descriptor: Int32

    /// Begins to listen.
    ///
    /// - Parameter address: the one of the machine; nil for all.
    /// - Throws: ``ProxyError`` where the port cannot be used.
    init(port: UInt16, address: String?) throws(ProxyError) {
        var error: Int32 = 0
        // A machine without version 6 has the other alone.
        for address in address.map({ [$0] }) ?? ["::", "0.0.0.0"] {
            guard let address = HostResolver.literal(address, port: port) else { continue }
            if let descriptor = Self.socket(at: address) {
                self.descriptor = descriptor
                return
            }
            error = errno
        }
        let remedy =
            switch error {
            case EADDRINUSE: "end the program that has it, or use another port"
            case EACCES: "use one above 1023"
            case EADDRNOTAVAIL: "use an address of this machine"
            default: "use another"
            }
        throw ProxyError(
            .cannotListen,
            "cannot listen at port \(port)\(address.map { " of \($0)" } ?? ""): \(String(cString: strerror(error))); "
                + remedy)
    }

    private static func socket(at address: HostResolver.Address) -> Int32? {
        let kind = SocketKind.nonBlocking(SocketKind.stream)
        let descriptor = CLibrary.socket(address.family, kind, 0)
        guard descriptor >= 0 else { return nil }
        // The port is free again at once after an end; and version 4 is served by the same socket.
        var (one, zero): (Int32, Int32) = (1, 0)
        let size = socklen_t(MemoryLayout<Int32>.size)
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &one, size)
        if address.family == AF_INET6 { setsockopt(descriptor, Int32(IPPROTO_IPV6), IPV6_V6ONLY, &zero, size) }
        let isBound = address.bytes.withUnsafeBytes { bytes in
            bytes.baseAddress.map {
                bind(descriptor, $0.assumingMemoryBound(to: sockaddr.self), socklen_t(bytes.count)) == 0
            } ?? false
        }
        guard isBound, listen(descriptor, 16) == 0 else {
            let error = errno
            CLibrary.close(descriptor)
            errno = error
            return nil
        }
        return descriptor
    }

    /// Accepts a client.
    ///
    /// - Returns: its socket and its address; nil where none waits.
    func accept() -> (descriptor: Int32, address: String)? {
        var address = sockaddr_storage()
        var count = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let text = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer -> (Int32, String)? in
                let client = CLibrary.accept(descriptor, pointer, &count)
                guard client >= 0 else { return nil }
                _ = fcntl(client, F_SETFL, O_NONBLOCK)
                _ = fcntl(client, F_SETFD, FD_CLOEXEC)
                var host = [CChar](repeating: 0, count: 64)
                getnameinfo(pointer, count, &host, socklen_t(host.count), nil, 0, NI_NUMERICHOST)
                let text = String(decoding: host.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
                return (client, text.hasPrefix("::ffff:") ? String(text.dropFirst(7)) : text)
            }
        }
        return text
    }

    /// Ends it.
    func close() { CLibrary.close(descriptor) }
}

/// The connection of a client to a device of a proxy.
final class ProxyConnection {
    /// The bytes that may wait for the network before adverts wait behind them, and before a client is read no more.
    private static let (fewUnsent, mostUnsent) = (1 << 14, 1 << 18)

    /// The room in the system for what was sent, in bytes: what is there cannot be dropped any more.
    private static let systemRoom: Int32 = 1 << 16

    /// For how long adverts wait for a client, in nanoseconds, and how many messages: what is older is of no use.
    private static let waitingTime = 5 * Timestamp.nanosecondsPerSecond
    private static let mostWaiting = 512

    /// How long the network may take for what was sent, in milliseconds.
    private static let sendTime: UInt32 = 30_000

    /// The device's stream, by its number.
    let stream: Int
    /// The socket; -1 once it is closed.
    private(set) var descriptor: Int32
    /// The client's address.
    let address: String
    /// The messages of adverts that were dropped.
    private(set) var dropped = 0

    private var device: ESPHomeDevice
    private var unsent: [UInt8] = []
    /// Messages of adverts that wait, with when they came.
    private var waiting: [(time: Timestamp, message: [UInt8])] = []
    /// True where the connection is to be closed once all is sent.
    private var isEnding = false

    init(_ descriptor: Int32, from address: String, to device: ESPHomeDevice, stream: Int) {
        self.descriptor = descriptor
        self.address = address
        self.device = device
        self.stream = stream
        var one: Int32 = 1
        var (time, room) = (Self.sendTime, Self.systemRoom)
        setsockopt(descriptor, SOL_SOCKET, SO_SNDBUF, &room, socklen_t(MemoryLayout<Int32>.size))
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
        // A client that went away without a word is found out by what it does not confirm (tcp(7)).
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_USER_TIMEOUT, &time, socklen_t(MemoryLayout<UInt32>.size))
    }

    deinit { close() }

    /// True while the client wants adverts.
    var isSubscribed: Bool { descriptor >= 0 && !isEnding && device.isSubscribed }

    /// The client for people.
    var title: String { (device.client.isEmpty ? "a client" : device.client) + " (\(address))" }

    /// True once the client has said who it is.
    var hasExchangedHello: Bool { device.hasExchangedHello }

    /// The events to wait for at the socket, as `poll` names them.
    var interest: Int32 { (mayAsk ? POLLIN : 0) | (unsent.isEmpty ? 0 : POLLOUT) }

    /// False while the client does not take what it was answered: who asks and does not read gets nothing more.
    private var mayAsk: Bool { !isEnding && unsent.count < Self.mostUnsent }

    /// When time has to be let pass again.
    var deadline: Timestamp { descriptor >= 0 ? device.deadline : .latest }

    /// Reads what has come, and answers.
    ///
    /// - Returns: the reason why the connection is over; nil where it goes on.
    func process(at now: Timestamp, buffer: inout [UInt8]) -> ESPHomeError? {
        // Not without end, so that one that floods keeps no other from being served.
        for _ in 0..<4 where mayAsk {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            if count < 0, errno == EAGAIN || errno == EINTR { break }
            guard count > 0 else { return .ended }
            let bytes = Array(buffer[..<count])
            let error = device.receive(bytes.span.bytes, at: now)
            if let error {
                // It learns why, where it asked for the end or has another key.
                isEnding = true
                return write() ?? error
            }
        }
        return device.advance(to: now) ?? write()
    }

    /// Sends messages of adverts. Where the client is behind, the oldest are dropped.
    func send(_ messages: [[UInt8]], at now: Timestamp) -> ESPHomeError? {
        guard isSubscribed else {
            waiting = []
            return nil
        }
        drop(waiting.prefix { now.since($0.time) > Self.waitingTime }.count)
        waiting += messages.map { (now, $0) }
        while let first = waiting.first, unsent.count < Self.fewUnsent {
            waiting.removeFirst()
            let error = attempt { (device) throws(ESPHomeError) in try device.send(adverts: first.message) }
            if let error { return error }
        }
        drop(max(0, waiting.count - Self.mostWaiting))
        return nil
    }

    private func drop(_ count: Int) {
        waiting.removeFirst(count)
        dropped += count
    }

    /// Tells the client whether anything is heard.
    func set(_ scanner: ESPHomeDevice.Scanner) -> ESPHomeError? {
        attempt { (device) throws(ESPHomeError) in try device.set(scanner) }
    }

    /// Says that the device goes away.
    func leave() {
        _ = attempt { (device) throws(ESPHomeError) in try device.leave() }
    }

    /// Closes the socket.
    func close() {
        guard descriptor >= 0 else { return }
        // A program that was started at the moment of accepting may have the socket too: the connection ends
        // nevertheless.
        shutdown(descriptor, Int32(SHUT_RDWR))
        CLibrary.close(descriptor)
        descriptor = -1
    }

    private func attempt(_ body: (inout ESPHomeDevice) throws(ESPHomeError) -> Void) -> ESPHomeError? {
        do throws(ESPHomeError) {
            try body(&device)
        } catch {
            return error
        }
        return write()
    }

    private func write() -> ESPHomeError? {
        unsent += device.takeOutput()
        while !unsent.isEmpty {
            let count = CLibrary.send(descriptor, unsent, unsent.count, Int32(MSG_NOSIGNAL))
            if count < 0, errno == EINTR { continue }
            if count < 0, errno == EAGAIN { return nil }
            guard count > 0 else { return .ended }
            unsent.removeFirst(count)
        }
        return nil
    }
}
