import BeaconModel
import BeaconReceivers
import BeaconSupport
import CLibrary

/// The sockets that announce devices in the local networks, one for each interface. Other programs that use multicast
/// DNS, such as avahi, are not affected.
final class ServiceAnnouncer {
    /// The interval between checks of the interfaces, in nanoseconds: networks may appear, and addresses may change.
    private static let reviewTime = 15 * Timestamp.nanosecondsPerSecond

    /// The interval between repeated announcements, in nanoseconds. They reach clients that missed one, or that slept
    /// longer than its lifetime.
    private static let repetitionTime = 1800 * Timestamp.nanosecondsPerSecond

    /// The most answers per second to one client and to all clients. More would be a flood (RFC 6762, 6).
    private static let (maximumAnswers, maximumOfAll) = (20, 200)

    private let ownAddress: [UInt8]?
    private var announcement = ServiceAnnouncement()
    private var networks: [Network] = []
    private var reviewAt: Timestamp
    private var announceAt = Timestamp.latest
    private var announcementsLeft = 0
    private var reported: Set<String> = []
    private var buffer = [UInt8](repeating: 0, count: 9000)

    /// An interface of the machine.
    private struct Network {
        var address: NetworkInterface
        var descriptor: Int32
    }

    /// The number of answers in the current second, by client.
    private var answers: [UInt32: Int] = [:]
    private var second = Timestamp.zero
    private var lastAnnounced = Timestamp.zero
    private var ownAddresses: [[UInt8]] = []

    /// Creates announcements that start with the first call of ``process(at:report:)``.
    ///
    /// - Parameter address: the address of the machine that serves the devices, in four bytes; nil for all.
    init(for address: [UInt8]?, at time: Timestamp) {
        ownAddress = address
        reviewAt = time
    }

    deinit { for network in networks { close(network.descriptor) } }

    /// The sockets to wait for.
    var descriptors: [Int32] { networks.map(\.descriptor) }

    /// The time at which `process` must be called again.
    var deadline: Timestamp { min(reviewAt, announceAt) }

    /// Sets the devices.
    func set(_ services: [ServiceAnnouncement.Service]) {
        announcement.services = services
        beginAnnouncing()
    }

    /// Answers questions and sends the announcements that are due.
    func process(at now: Timestamp, report: (String) -> Void) {
        if now >= reviewAt {
            // The machine slept, and other machines may have forgotten the devices.
            let isLate = now.since(reviewAt) > 4 * Self.reviewTime && !networks.isEmpty
            if isLate || now.since(lastAnnounced) >= Self.repetitionTime { beginAnnouncing() }
            reviewAt = now.advanced(by: Self.reviewTime)
            review(report)
        }
        for index in networks.indices { read(index, at: now, report) }
        guard now >= announceAt else { return }
        lastAnnounced = now
        for network in networks { announce(by: network) }
        announcementsLeft -= 1
        announceAt = announcementsLeft > 0 ? now.advanced(by: Timestamp.nanosecondsPerSecond) : .latest
    }

    /// Announces that the devices are gone.
    func withdraw() {
        for network in networks { announce(by: network, isEnd: true) }
    }

    private func beginAnnouncing() {
        announcementsLeft = 2
        announceAt = .zero
    }

    /// Opens a socket for each new interface, and closes the sockets of interfaces that disappeared.
    private func review(_ report: (String) -> Void) {
        guard let all = NetworkInterface.all() else { return }
        ownAddresses = all.map(\.bytes)
        let present = all.filter { ownAddress == nil || $0.bytes == ownAddress }
        for network in networks where !present.contains(network.address) { close(network.descriptor) }
        networks.removeAll { !present.contains($0.address) }
        for interface in present where !networks.contains(where: { $0.address == interface }) {
            guard let descriptor = Self.socket(for: interface) else {
                let reason = String(cString: strerror(errno))
                if reported.insert(interface.name).inserted {
                    report(
                        "Cannot announce devices on \(interface.name): \(reason). "
                            + "Enter the address in the clients, or stop the program that uses port 5353 exclusively."
                    )
                }
                continue
            }
            networks.append(Network(address: interface, descriptor: descriptor))
            beginAnnouncing()
        }
    }

    private func read(_ index: Int, at now: Timestamp, _ report: (String) -> Void) {
        // Limited, since anyone may send.
        for _ in 0..<32 {
            var address = sockaddr_in()
            var size = socklen_t(MemoryLayout<sockaddr_in>.size)
            let count = withUnsafeMutablePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    recvfrom(networks[index].descriptor, &buffer, buffer.count, 0, $0, &size)
                }
            }
            guard count > 0 else { return }
            let bytes = Array(buffer[..<count])
            if let name = announcement.conflict(in: bytes.span.bytes, addresses: ownAddresses),
                reported.insert(name).inserted
            {
                report("Another machine in the network is called \(name), too; rename one of them.")
            }
            let answers = announcement.answers(
                to: bytes.span.bytes, from: UInt16(bigEndian: address.sin_port),
                addresses: [networks[index].address.bytes])
            // Do not answer other networks: their source address may be forged (RFC 6762, 11).
            let asker = withUnsafeBytes(of: address.sin_addr) { Array($0) }
            guard let answers, networks[index].address.reaches(asker), mayAnswer(address.sin_addr.s_addr, at: now)
            else {
                continue
            }
            for message in answers.messages {
                Self.send(message, by: networks[index].descriptor, to: answers.isUnicast ? address : Self.group)
            }
        }
    }

    private func mayAnswer(_ asker: UInt32, at now: Timestamp) -> Bool {
        if now.since(second) >= Timestamp.nanosecondsPerSecond { (second, answers) = (now, [:]) }
        guard answers[asker, default: 0] < Self.maximumAnswers, answers.values.reduce(0, +) < Self.maximumOfAll else {
            return false
        }
        answers[asker, default: 0] += 1
        return true
    }

    private func announce(by network: Network, isEnd: Bool = false) {
        for message in announcement.messages(addresses: [network.address.bytes], isEnd: isEnd) {
            Self.send(message, by: network.descriptor, to: Self.group)
        }
    }

    private static var group: sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = ServiceQuestion.port.bigEndian
        inet_pton(AF_INET, ServiceQuestion.address, &address.sin_addr)
        return address
    }

    private static func send(_ message: [UInt8], by descriptor: Int32, to address: sockaddr_in) {
        withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                _ = sendto(descriptor, message, message.count, 0, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }

    /// Opens a socket that receives multicasts of the group on one interface and sends on it.
    private static func socket(for interface: NetworkInterface) -> Int32? {
        let kind = SocketKind.nonBlocking(SocketKind.datagram)
        let descriptor = CLibrary.socket(AF_INET, kind, 0)
        guard descriptor >= 0 else { return nil }
        let size = socklen_t(MemoryLayout<Int32>.size)
        var (one, zero, most): (Int32, Int32, Int32) = (1, 0, 255)
        var membership = ip_mreqn()
        membership.imr_multiaddr = group.sin_addr
        membership.imr_ifindex = interface.index
        let membershipSize = socklen_t(MemoryLayout<ip_mreqn>.size)
        // Other programs use the port, too. Bound to the group only, this socket takes none of their unicasts.
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &one, size)
        // Do not receive multicasts of other interfaces (ip(7)).
        setsockopt(descriptor, Int32(IPPROTO_IP), IP_MULTICAST_ALL, &zero, size)
        setsockopt(descriptor, Int32(IPPROTO_IP), IP_MULTICAST_IF, &membership, membershipSize)
        // Receivers of a packet with a TTL below 255 know that it comes from another network (RFC 6762, 11).
        setsockopt(descriptor, Int32(IPPROTO_IP), IP_MULTICAST_TTL, &most, size)
        setsockopt(descriptor, Int32(IPPROTO_IP), IP_TTL, &most, size)
        let isBound = withUnsafePointer(to: group) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        guard isBound,
            setsockopt(descriptor, Int32(IPPROTO_IP), IP_ADD_MEMBERSHIP, &membership, membershipSize) == 0
        else {
            let error = errno
            close(descriptor)
            errno = error
            return nil
        }
        return descriptor
    }
}
