import CLibrary

/// The addresses at which other machines reach this one.
package enum MachineAddress {
    /// The first IPv4 address other than the loopback interface's; nil if the machine has none.
    package static var first: String? {
        let interfaces = NetworkInterface.all() ?? []
        return interfaces.first { $0.bytes.first != 127 && !$0.isPointToPoint }?.bytes.map(String.init)
            .joined(separator: ".")
    }
}

/// An interface that can send multicasts, with an IPv4 address.
package struct NetworkInterface: Hashable {
    /// Its index.
    package var index: Int32
    /// Its name.
    package var name: String
    /// Its address in four bytes.
    package var bytes: [UInt8]
    /// Its network mask in four bytes.
    package var mask: [UInt8]

    /// True for a point-to-point link, whose other end can have any address.
    package var isPointToPoint: Bool

    /// Returns true for an address in its network.
    package func reaches(_ other: [UInt8]) -> Bool {
        isPointToPoint
            || zip(zip(bytes, other), mask).allSatisfy { ($0.0 ^ $0.1) & $1 == 0 }
    }

    /// Returns the interfaces that are up; nil if the system call fails.
    package static func all() -> [NetworkInterface]? {
        var list: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&list) == 0 else { return nil }
        defer { freeifaddrs(list) }
        var found: [NetworkInterface] = []
        var next = list
        while let one = next?.pointee {
            next = one.ifa_next
            let flags = Int32(bitPattern: one.ifa_flags)
            guard let address = one.ifa_addr, address.pointee.sa_family == sa_family_t(AF_INET),
                flags & Int32(IFF_UP) != 0
            else { continue }
            // The loopback interface lacks the multicast flag, but supports multicast.
            guard flags & Int32(IFF_MULTICAST | IFF_LOOPBACK) != 0 else { continue }
            found.append(
                NetworkInterface(
                    index: Int32(if_nametoindex(one.ifa_name)), name: String(cString: one.ifa_name),
                    bytes: bytes(of: address), mask: one.ifa_netmask.map(bytes(of:)) ?? [255, 255, 255, 255],
                    isPointToPoint: flags & Int32(IFF_POINTOPOINT) != 0))
        }
        return found
    }

    private static func bytes(of address: UnsafeMutablePointer<sockaddr>) -> [UInt8] {
        address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { pointer in
            withUnsafeBytes(of: pointer.pointee.sin_addr) { Array($0) }
        }
    }
}
