import BeaconSupport
import CLibrary
import Foundation

/// A resolver of host names with its own thread, since `getaddrinfo` can block for any length of time.
package final class HostResolver: Sendable {
    /// An address in the form that system calls expect.
    package struct Address: Sendable {
        package var family: Int32
        package var bytes: [UInt8]
    }

    private struct State {
        var waiting: [(host: String, port: UInt16)] = []
        var found: [(host: String, port: UInt16, addresses: [Address])] = []
        var isRunning = false
        var isClosed = false
    }

    /// The waker that signals finished lookups, whether they succeeded or failed.
    let waker = Waker()

    private let state = Locked(State())

    /// Starts to look up a host.
    func resolve(_ host: String, port: UInt16) {
        let starts = state.withLock { state in
            if !state.waiting.contains(where: { $0.host == host && $0.port == port }) {
                state.waiting.append((host, port))
            }
            defer { state.isRunning = true }
            return !state.isRunning
        }
        guard starts else { return }
        let thread = Thread { self.run() }
        thread.name = "beacon resolver"
        thread.start()
    }

    /// Returns the lookups that finished since the last call. A failed lookup has no addresses.
    func takeFound() -> [(host: String, port: UInt16, addresses: [Address])] {
        waker.reset()
        return state.withLock { state in
            defer { state.found = [] }
            return state.found
        }
    }

    /// Ends the thread after its current lookup.
    func close() { state.withLock { $0.isClosed = true } }

    private func run() {
        while let next = next() {
            let addresses = Self.addresses(of: next.host, port: next.port)
            state.withLock { $0.found.append((next.host, next.port, addresses)) }
            waker.wake()
        }
    }

    private func next() -> (host: String, port: UInt16)? {
        state.withLock { state in
            guard !state.waiting.isEmpty, !state.isClosed else {
                state.isRunning = false
                return nil
            }
            return state.waiting.removeFirst()
        }
    }

    /// Returns the addresses of a host name or literal address, in the system's order of preference.
    private static func addresses(of host: String, port: UInt16) -> [Address] {
        var hints = addrinfo()
        hints.ai_socktype = SocketKind.stream
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, "\(port)", &hints, &list) == 0 else { return [] }
        defer { freeaddrinfo(list) }
        var addresses: [Address] = []
        var next = list
        while let one = next?.pointee {
            next = one.ai_next
            guard let address = one.ai_addr else { continue }
            let bytes = UnsafeRawBufferPointer(start: address, count: Int(one.ai_addrlen))
            addresses.append(Address(family: one.ai_family, bytes: Array(bytes)))
        }
        return addresses
    }

    /// Returns the address for a literal address; nil for a name, which must be looked up.
    package static func literal(_ host: String, port: UInt16) -> Address? {
        var four = in_addr()
        if inet_pton(AF_INET, host, &four) == 1 {
            return address(withUnsafeBytes(of: &four) { Array($0) }, port: port)
        }
        var address = sockaddr_in6()
        guard inet_pton(AF_INET6, host, &address.sin6_addr) == 1 else { return nil }
        address.sin6_family = sa_family_t(AF_INET6)
        address.sin6_port = port.bigEndian
        return Address(family: AF_INET6, bytes: withUnsafeBytes(of: &address) { Array($0) })
    }

    /// Returns the socket address for an IPv4 address of four bytes and a port.
    static func address(_ bytes: [UInt8], port: UInt16) -> Address {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        withUnsafeMutableBytes(of: &address.sin_addr) { $0.copyBytes(from: bytes.prefix(4)) }
        return Address(family: AF_INET, bytes: withUnsafeBytes(of: &address) { Array($0) })
    }
}
