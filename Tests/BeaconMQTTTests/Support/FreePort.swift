import BeaconRadio
import BeaconService
import Glibc

/// Ports of the loopback interface.
enum FreePort {
    private static let given = Locked<Set<UInt16>>([])

    /// One that nobody uses now, and that no other test was given.
    static func find() throws -> UInt16 {
        while true {
            let port = try findAny()
            if given.withLock({ $0.insert(port).inserted }) { return port }
        }
    }

    private static func findAny() throws -> UInt16 {
        try withSocket { descriptor in
            var address = loopback(port: 0)
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let result = withUnsafeMutablePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                    bind(descriptor, address, length) == 0 ? getsockname(descriptor, address, &length) : -1
                }
            }
            guard result == 0 else { throw Failure("no port is free") }
            return UInt16(bigEndian: address.sin_port)
        }
    }

    /// Whether someone takes connections at a port.
    static func isListening(_ port: UInt16) -> Bool {
        guard let descriptor = try? open(port) else { return false }
        close(descriptor)
        return true
    }

    /// A connection to a port.
    static func open(_ port: UInt16) throws -> Int32 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = loopback(port: port)
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                connect(descriptor, address, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else {
            close(descriptor)
            throw Failure("nobody listens at \(port)")
        }
        return descriptor
    }

    /// A socket that takes connections at a port.
    static func listen(on port: UInt16) throws -> Int32 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = loopback(port: port)
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(descriptor, address, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0, Glibc.listen(descriptor, 16) == 0 else {
            close(descriptor)
            throw Failure("no listening at \(port)")
        }
        return descriptor
    }

    private static func withSocket<Result>(_ body: (Int32) throws -> Result) throws -> Result {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { throw Failure("no socket") }
        defer { close(descriptor) }
        return try body(descriptor)
    }

    private static func loopback(port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return address
    }
}
