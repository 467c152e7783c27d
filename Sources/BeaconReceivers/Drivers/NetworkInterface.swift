import CLibrary

/// The addresses by which others reach this machine.
package enum MachineAddress {
    /// The first of version 4 that is not the machine's own loop; nil where it has none.
    package static var first: String? {
        let interfaces = NetworkInterface.all() ?? []
        return interfaces.first { $0.bytes.first != 127 && !$0.isPointToPoint }?.bytes.map(String.init)
            .joined(separator: ".")
    }
}

/// An interface of the machine that can send to a group, with an address of version 4.
package struct NetworkInterface: Hashable {
    /// Its number.
    package var index: Int32
    /// Its name.
    package var name: String
    /// Its address in four bytes.
    package var bytes: [UInt8]
    /// The bits of the address that all in its network have, in four bytes.
    package var mask: [UInt8]

    /// True for one with a single other end, whose address may be any.
    package var isPointToPoint: Bool

    /// Returns true for an address in its network.
    package func reaches(_ other: [UInt8]) -> Bool {
        isPointToPoint
            || zip(zip(bytes, other), mask).allSatisfy { ($0.0 ^ $0.1) & $1 == 0 }
    }

    /// Returns those that are up; nil where the system does not say.
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
            // The loopback interface says that it has no groups, and has them.
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
