import BeaconModel
import BeaconReceivers
import BeaconSupport
import CLibrary

/// A listening socket for clients.
struct ProxyListener {
    /// The socket.
    let descriptor: Int32

    /// Starts to listen.
    ///
    /// - Parameter address: the address of the machine to listen at; nil for all.
    /// - Throws: ``ProxyError`` if the port cannot be used.
    init(port: UInt16, address: String?) throws(ProxyError) {
        var error: Int32 = 0
        // A machine without IPv6 uses IPv4.
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
            case EADDRINUSE: "stop the program that uses it, or use another port"
            case EACCES: "use a port above 1023"
            case EADDRNOTAVAIL: "use an address of this machine"
            default: "use another port"
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
        // Make the port available again right after the program ends, and accept IPv4 at the same socket.
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
    /// - Returns: its socket and its address; nil if no client is waiting.
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

    /// Closes the socket.
    func close() { CLibrary.close(descriptor) }
}

/// The connection of a client to a device of the proxy.
final class ProxyConnection {
    /// The unsent bytes above which adverts wait, and above which requests are no longer read.
    private static let (fewUnsent, maximumUnsent) = (1 << 14, 1 << 18)

    /// The size of the socket's send buffer, in bytes. Adverts in it can no longer be dropped.
    private static let systemRoom: Int32 = 1 << 16

    /// The longest time that adverts wait for a client, in nanoseconds, and the most messages. Older adverts are
    /// useless.
    private static let waitingTime = 5 * Timestamp.nanosecondsPerSecond
    private static let maximumWaiting = 512

    /// The longest time for the network to acknowledge data, in milliseconds.
    private static let sendTime: UInt32 = 30_000

    /// The number of the device's stream.
    let stream: Int
    /// The socket; -1 after it was closed.
    private(set) var descriptor: Int32
    /// The client's address.
    let address: String
    /// The number of dropped messages of adverts.
    private(set) var dropped = 0

    private var device: ESPHomeDevice
    private var unsent: [UInt8] = []
    /// Messages of adverts that wait, with their times of arrival.
    private var waiting: [(time: Timestamp, message: [UInt8])] = []
    /// True if the connection will be closed once all bytes are sent.
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
        // Detects a client that disappeared: it acknowledges nothing (tcp(7)).
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_USER_TIMEOUT, &time, socklen_t(MemoryLayout<UInt32>.size))
    }

    deinit { close() }

    /// True while the client subscribes to adverts.
    var isSubscribed: Bool { descriptor >= 0 && !isEnding && device.isSubscribed }

    /// The client, for people.
    var title: String { (device.client.isEmpty ? "a client" : device.client) + " (\(address))" }

    /// True once the client has asked for active scanning.
    var hasAskedForActiveScan: Bool { device.hasAskedForActiveScan }

    /// True once the client has sent its hello.
    var hasExchangedHello: Bool { device.hasExchangedHello }

    /// The events to wait for at the socket, in the terms of `poll`.
    var interest: Int32 { (acceptsRequests ? POLLIN : 0) | (unsent.isEmpty ? 0 : POLLOUT) }

    /// False while the client does not read its responses. A client that only sends requests gets no more responses.
    private var acceptsRequests: Bool { !isEnding && unsent.count < Self.maximumUnsent }

    /// The time at which `process` must be called again.
    var deadline: Timestamp { descriptor >= 0 ? device.deadline : .latest }

    /// Reads the requests and sends the responses.
    ///
    /// - Returns: the reason why the connection is over; nil if it continues.
    func process(at now: Timestamp, buffer: inout [UInt8]) -> ESPHomeError? {
        // Limited, so that a client that floods does not keep the others from being served.
        for _ in 0..<4 where acceptsRequests {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            if count < 0, errno == EAGAIN || errno == EINTR { break }
            guard count > 0 else { return .ended }
            let bytes = Array(buffer[..<count])
            let error = device.receive(bytes.span.bytes, at: now)
            if let error {
                // Send the reason to the client first, for example after a wrong key.
                isEnding = true
                return write() ?? error
            }
        }
        return device.advance(to: now) ?? write()
    }

    /// Sends messages of adverts, and drops the oldest ones if the client is too slow.
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
        drop(max(0, waiting.count - Self.maximumWaiting))
        return nil
    }

    private func drop(_ count: Int) {
        waiting.removeFirst(count)
        dropped += count
    }

    /// Notifies the client of the scanner's state.
    func set(_ scanner: ESPHomeDevice.Scanner) -> ESPHomeError? {
        attempt { (device) throws(ESPHomeError) in try device.set(scanner) }
    }

    /// Sends a disconnect request.
    func leave() {
        _ = attempt { (device) throws(ESPHomeError) in try device.leave() }
    }

    /// Closes the socket.
    func close() {
        guard descriptor >= 0 else { return }
        // A program that was started during `accept` may have inherited the socket; this ends the connection anyway.
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
