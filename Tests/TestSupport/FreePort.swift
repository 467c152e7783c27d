import BeaconSupport
import Glibc

/// Ports of the loopback interface.
public enum FreePort {
    private static let given = Locked<Set<UInt16>>([])

    /// Below the range from which the kernel takes local ports of connections (ip_local_port_range, 32768 to 60999):
    /// such a connection could keep a broker from listening at its port again.
    private static let range: ClosedRange<UInt16> = 20_000...31_999

    /// Returns a port that is free and that no other test got.
    public static func find() throws -> UInt16 {
        for _ in range {
            let port = UInt16.random(in: range)
            guard try isFree(port) else { continue }
            if given.withLock({ $0.insert(port).inserted }) { return port }
        }
        throw Failure("no port is free")
    }

    private static func isFree(_ port: UInt16) throws -> Bool {
        try withSocket { descriptor in
            let address = loopback(port: port)
            return withUnsafePointer(to: address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                    bind(descriptor, address, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
                }
            }
        }
    }

    /// Returns true if a program listens at a port.
    public static func isListening(_ port: UInt16) -> Bool {
        guard let descriptor = try? open(port) else { return false }
        close(descriptor)
        return true
    }

    /// Opens a connection to a port.
    public static func open(_ port: UInt16) throws -> Int32 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = loopback(port: port)
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                connect(descriptor, address, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else {
            close(descriptor)
            throw Failure("no program listens at port \(port)")
        }
        return descriptor
    }

    /// Opens a socket that listens at a port.
    public static func listen(on port: UInt16) throws -> Int32 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = loopback(port: port)
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(descriptor, address, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0, Glibc.listen(descriptor, 16) == 0 else {
            close(descriptor)
            throw Failure("cannot listen at port \(port)")
        }
        return descriptor
    }

    private static func withSocket<Result>(_ body: (Int32) throws -> Result) throws -> Result {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { throw Failure("cannot open a socket") }
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
