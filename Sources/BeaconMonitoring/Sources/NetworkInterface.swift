import Glibc

/// An interface of the machine that can send to a group, with an address of version 4.
struct NetworkInterface: Hashable {
    /// Its number.
    var index: Int32
    /// Its address in four bytes.
    var bytes: [UInt8]

    /// Returns those that are up.
    static func all() -> [NetworkInterface] {
        var list: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&list) == 0 else { return [] }
        defer { freeifaddrs(list) }
        var found: [NetworkInterface] = []
        var next = list
        while let one = next?.pointee {
            next = one.ifa_next
            let flags = Int32(bitPattern: one.ifa_flags)
            guard let address = one.ifa_addr, address.pointee.sa_family == sa_family_t(AF_INET),
                flags & Int32(IFF_UP) != 0
            else { continue }
            // The loopback interface says that it has no groups, and has them.
            guard flags & Int32(IFF_MULTICAST | IFF_LOOPBACK) != 0 else { continue }
            address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { pointer in
                let bytes = withUnsafeBytes(of: pointer.pointee.sin_addr) { Array($0) }
                found.append(NetworkInterface(index: Int32(if_nametoindex(one.ifa_name)), bytes: bytes))
            }
        }
        return found
    }
}
