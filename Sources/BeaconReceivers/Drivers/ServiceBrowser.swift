import BeaconModel
import BeaconSupport
import CLibrary

/// A search of the local network for ESPHome devices by multicast DNS. It sends its questions from its own socket and
/// gets the answers there (RFC 6762, 6.7), so it needs no other program.
final class ServiceBrowser {
    /// The intervals between two questions, in seconds: short at first, since an answer may be lost.
    private static let intervals: [Int64] = [1, 2, 4, 8, 16, 30, 60]

    /// The most devices and hosts to remember: anyone in the network can make up answers.
    private static let most = 1024

    /// The most hosts to ask for at once, not counting those that the user named.
    private static let maximumQuestions = 32

    /// The socket; -1 if there is no socket.
    let descriptor: Int32

    /// The devices that were found, by service name.
    private(set) var services: [String: ServiceAnswer.Service] = [:]

    /// The names of the found services that need a key.
    private(set) var encrypted: Set<String> = []

    private var addresses: [String: [UInt8]] = [:]
    /// Hosts of devices whose address is still unknown.
    private var wanted: [String] = []
    private let named: [String]
    /// The names of devices that the user named, which always get a place.
    private let reserved: Set<String>
    private let asksForAll: Bool
    private var askedAt = Timestamp.zero
    /// Room for the longest answer (RFC 6762, 17).
    private var buffer = [UInt8](repeating: 0, count: 9000)
    private var number = 0

    /// When the next question is due.
    private(set) var deadline: Timestamp

    /// Starts to look for devices.
    ///
    /// - Parameters:
    ///   - all: true to look for all devices.
    ///   - hosts: names that end in `.local`, to look up their addresses.
    ///   - reserved: the names of devices that always get a place.
    init(all: Bool, hosts: [String], reserved: Set<String> = [], at time: Timestamp) {
        asksForAll = all
        self.reserved = reserved
        named = hosts.map { $0.lowercased() }
        let kind = SocketKind.nonBlocking(SocketKind.datagram)
        descriptor = all || !hosts.isEmpty ? socket(AF_INET, kind, 0) : -1
        deadline = descriptor >= 0 ? time : .latest
    }

    deinit { if descriptor >= 0 { CLibrary.close(descriptor) } }

    /// Returns the address of a host in four bytes; nil if it has not been found.
    func address(of host: String) -> [UInt8]? { addresses[host.lowercased()] }

    /// Returns true if the user named the device of a service.
    func isReserved(_ service: String) -> Bool { reserved.contains(String(service.prefix { $0 != "." })) }

    /// Reads the answers and sends the questions that are due.
    func process(at now: Timestamp) {
        guard descriptor >= 0 else { return }
        // Limited, since anyone may send.
        for _ in 0..<64 {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            guard count > 0 else { break }
            let bytes = Array(buffer[..<count])
            if let answer = ServiceAnswer(bytes.span.bytes) { note(answer, at: now) }
        }
        guard now >= deadline else { return }
        askedAt = now
        ask()
        let interval = Self.intervals[min(number, Self.intervals.count - 1)]
        number += 1
        deadline = now.advanced(by: interval * Timestamp.nanosecondsPerSecond)
    }

    /// Forgets a device. If it still exists, it will be found again.
    func forget(host: String, port: UInt16) {
        services = services.filter { $0.value.host != host || $0.value.port != port }
        addresses[host] = nil
        wanted.removeAll { $0 == host }
    }

    func note(_ answer: ServiceAnswer, at now: Timestamp) {
        for (name, service) in answer.services
        where services.count < Self.most || services[name] != nil || isReserved(name) {
            if let old = services[name], old.host != service.host { wanted.removeAll { $0 == old.host } }
            services[name] = service
            if answer.addresses[service.host] == nil, addresses[service.host] == nil,
                wanted.count < Self.most || isReserved(name), !wanted.contains(service.host)
            {
                // Those are asked for first.
                isReserved(name) ? wanted.insert(service.host, at: 0) : wanted.append(service.host)
                // At most once a second: otherwise made-up devices would trigger questions without end.
                deadline = min(deadline, max(now, askedAt.advanced(by: Timestamp.nanosecondsPerSecond)))
            }
        }
        encrypted.formUnion(answer.encrypted)
        if encrypted.count > services.count { encrypted.formIntersection(services.keys) }
        // Keep only the addresses of hosts that are looked for, so that others take no space.
        let hosts = Set(named).union(wanted).union(services.values.map(\.host))
        for (host, address) in answer.addresses where hosts.contains(host) { addresses[host] = address }
        wanted.removeAll { addresses[$0] != nil }
        if addresses.count > hosts.count { addresses = addresses.filter { hosts.contains($0.key) } }
    }

    private func ask() {
        // Send on each interface: the devices need not be on the system's default one.
        for interface in NetworkInterface.all() ?? [] {
            var address = in_addr()
            withUnsafeMutableBytes(of: &address) { $0.copyBytes(from: interface.bytes) }
            setsockopt(
                descriptor, Int32(IPPROTO_IP), IP_MULTICAST_IF, &address, socklen_t(MemoryLayout<in_addr>.size))
            if asksForAll { send(ServiceQuestion.all) }
            for host in named + wanted.prefix(Self.maximumQuestions) { send(ServiceQuestion.address(of: host)) }
        }
    }

    private func send(_ question: [UInt8]) {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = ServiceQuestion.port.bigEndian
        inet_pton(AF_INET, ServiceQuestion.address, &address.sin_addr)
        withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                _ = sendto(descriptor, question, question.count, 0, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }
}
