import BeaconSupport
import HTTPTypes
import NIOCore
import NIOEmbedded
import NIOHTTPTypes
import Testing

@testable import BeaconConsole
@testable import BeaconGateway

@Suite("Connections: limits")
struct ConnectionLimitsTests {
    private static let sizes = ConnectionLimits.Sizes(files: 1024)

    @Test(
        "All connections leave descriptors to the rest of beacond, whatever the limit",
        arguments: [-1, 64, 256, 512, 1024, 65_536])
    func files(_ limit: Int) {
        let sizes = ConnectionLimits.Sizes(files: limit)
        #expect(limit < 0 || sizes.open + 32 <= limit)
        #expect(sizes.share < sizes.all && sizes.proxyShare < sizes.all && sizes.all < sizes.open)
        #expect(limit > 0 && limit < 1024 || sizes.all == 512)
    }

    private static func client(_ address: String, proxies: Set<String> = []) throws -> ConnectionLimits.Client {
        var settings = WebSettings()
        settings.trustedProxies = proxies
        return try ConnectionLimits.Client(at: SocketAddress(ipAddress: address, port: 1), settings)
    }

    /// Clients that open connections with or without a running request.
    private struct Crowd {
        let limits = ConnectionLimits(ConnectionLimitsTests.sizes)
        let closed = Locked<[String]>([])
        var places: [String: [ConnectionLimits.Place]] = [:]

        mutating func open(_ count: Int, _ address: String, busy: Bool, proxies: Set<String> = []) throws {
            let client = try ConnectionLimitsTests.client(address, proxies: proxies)
            for _ in 0..<count {
                let own = Locked<ConnectionLimits.Place?>(nil)
                let place = limits.enter(client) { [closed, limits] in
                    closed.withLock { $0.append(address) }
                    if let place = own.withLock({ $0 }) { limits.leave(place) }
                }
                guard let place else { continue }
                own.withLock { $0 = place }
                places[address, default: []].append(place)
                if busy, place.refusal == nil { #expect(limits.begin(place)) }
            }
        }

        func refusals(_ address: String) -> Int { places[address, default: []].count { $0.refusal != nil } }
    }

    @Test("530 idle connections of one client leave a place for all clients, including itself")
    func idle() throws {
        for address in ["192.0.2.1", "127.0.0.1", "::1", "2001:db8::1"] {
            var crowd = Crowd()
            try crowd.open(530, address, busy: false)
            #expect(crowd.refusals(address) == 0)
            #expect(crowd.limits.counts.open <= Self.sizes.proxyShare)
            #expect(crowd.closed.withLock { $0.count } == 530 - crowd.limits.counts.open)
            for other in ["127.0.0.1", "192.0.2.2", "2001:db8:1::1"] {
                try crowd.open(1, other, busy: true)
                #expect(crowd.refusals(other) == 0)
            }
        }
    }

    @Test("A client whose requests use its whole share gets only readiness, and others get everything")
    func share() throws {
        var crowd = Crowd()
        try crowd.open(200, "192.0.2.1", busy: true)
        #expect(crowd.places["192.0.2.1"]?.count(where: { $0.refusal == nil }) == Self.sizes.share)
        #expect(crowd.places["192.0.2.1"]?.last?.refusal == .share)
        #expect(crowd.limits.counts.open == Self.sizes.share + Self.sizes.readinessShare)
        try crowd.open(1, "192.0.2.2", busy: true)
        try crowd.open(1, "127.0.0.1", busy: true)
        #expect(crowd.refusals("192.0.2.2") + crowd.refusals("127.0.0.1") == 0)
        // A freed place is available to the client again.
        let first = try #require(crowd.places["192.0.2.1"]?.first)
        crowd.limits.leave(first)
        let before = crowd.refusals("192.0.2.1")
        try crowd.open(1, "192.0.2.1", busy: true)
        #expect(crowd.refusals("192.0.2.1") == before)
    }

    @Test("A trusted proxy and this machine have larger shares, and neither has all places")
    func proxies() throws {
        for address in ["10.0.0.1", "127.0.0.1"] {
            var crowd = Crowd()
            try crowd.open(600, address, busy: true, proxies: ["10.0.0.1"])
            #expect(crowd.places[address]?.count(where: { $0.refusal == nil }) == Self.sizes.proxyShare)
            try crowd.open(90, "192.0.2.1", busy: true)
            #expect(crowd.refusals("192.0.2.1") == 0)
        }
    }

    @Test("If many clients use all places, this machine still has some, and readiness works for all")
    func full() throws {
        var crowd = Crowd()
        for number in 1...20 { try crowd.open(128, "192.0.2.\(number)", busy: true) }
        let usual = crowd.places.values.joined().count { $0.refusal == nil }
        #expect(usual == Self.sizes.all - Self.sizes.local)
        try crowd.open(Self.sizes.local, "127.0.0.1", busy: true)
        #expect(crowd.refusals("127.0.0.1") == 0)
        for number in 30...99 { try crowd.open(1, "192.0.2.\(number)", busy: false) }
        #expect(crowd.places["192.0.2.99"]?.first?.refusal == .full)
        #expect(crowd.limits.counts.open == Self.sizes.all + Self.sizes.readiness)
        // If all of these have a request right now, there is no place left.
        for address in crowd.places.keys {
            for place in crowd.places[address, default: []] where place.refusal != nil { _ = crowd.limits.begin(place) }
        }
        #expect(crowd.limits.enter(try Self.client("192.0.2.100")) {} == nil)
        #expect(crowd.limits.counts.refused == 1)
    }

    @Test("A crowd at one address displaces its own connections first")
    func crowd() throws {
        var crowd = Crowd()
        try crowd.open(1, "198.51.100.1", busy: false)
        for number in 1...20 { try crowd.open(30, "192.0.2.\(number)", busy: false) }
        #expect(crowd.closed.withLock { $0.count } > 100)
        #expect(crowd.closed.withLock { !$0.contains("198.51.100.1") })
    }

    @Test("The number of displaced connections that do not end is limited")
    func closing() throws {
        let limits = ConnectionLimits(Self.sizes)
        let client = try Self.client("192.0.2.1")
        let places = (0..<2_000).compactMap { _ in limits.enter(client) {} }
        #expect(places.count == Self.sizes.open)
        for place in places { limits.leave(place) }
        #expect(limits.counts.open == 0)
        #expect(limits.enter(client) {} != nil)
    }

    @Test("The longest idle connection is displaced, and never a connection with a request")
    func longest() throws {
        let limits = ConnectionLimits(Self.sizes)
        let client = try Self.client("192.0.2.1")
        let closed = Locked<[Int]>([])
        let places = try (0..<Self.sizes.share).map { number in
            try #require(limits.enter(client) { closed.withLock { $0.append(number) } })
        }
        for place in places { #expect(limits.begin(place)) }
        for number in [7, 3, 9] { limits.rest(places[number]) }
        #expect(limits.begin(places[9]))
        for _ in 0..<3 { _ = limits.enter(client) {} }
        #expect(closed.withLock { $0 } == [7, 3])
        #expect(!limits.begin(places[7]), "another connection has its place")
        // The third new connection gets the place of the first, which has had no request.
        #expect(limits.counts.displaced == 3)
    }

    @Test(
        "A client is an IPv4 address, a /64 network of IPv6, or a link-local address",
        arguments: [
            ("192.0.2.1", "192.0.2.2", false), ("192.0.2.1", "::ffff:192.0.2.1", true),
            ("2001:db8::1", "2001:db8::ffff", true), ("2001:db8::1", "2001:db8:0:1::1", false),
            ("fe80::1", "fe80::2", false), ("::1", "::2", false), ("127.0.0.1", "::ffff:127.0.0.1", true),
        ])
    func clients(_ one: String, _ other: String, _ isSame: Bool) throws {
        #expect(try (Self.client(one).key == Self.client(other).key) == isSame)
    }

    @Test("With random clients, each number stays within its limits, and no place is lost")
    func random() throws {
        var sizes = ConnectionLimits.Sizes(files: 1024)
        (sizes.all, sizes.share, sizes.proxyShare, sizes.local) = (12, 4, 8, 2)
        (sizes.readiness, sizes.readinessShare) = (3, 2)
        let addresses = ["192.0.2.1", "192.0.2.2", "192.0.2.3", "192.0.2.4", "127.0.0.1", "10.0.0.1"]
        for _ in 0..<200 {
            let limits = ConnectionLimits(sizes)
            let gone = Locked<Set<Int>>([])
            var open: [(number: Int, address: String, place: ConnectionLimits.Place, isBusy: Bool)] = []
            for number in 0..<200 {
                let address = addresses.randomElement() ?? ""
                switch Int.random(in: 0..<4) {
                case 0, 1:
                    let client = try Self.client(address, proxies: ["10.0.0.1"])
                    if let place = limits.enter(client, close: { gone.withLock { _ = $0.insert(number) } }) {
                        open.append((number, address, place, false))
                    }
                case 2:
                    guard let index = open.indices.randomElement() else { break }
                    if open[index].isBusy {
                        limits.rest(open[index].place)
                    } else {
                        #expect(limits.begin(open[index].place))
                    }
                    open[index].isBusy.toggle()
                default:
                    guard let index = open.indices.randomElement() else { break }
                    limits.leave(open.remove(at: index).place)
                }
                let closed = gone.withLock { $0 }
                #expect(!open.contains { closed.contains($0.number) && $0.isBusy })
                open.removeAll { closed.contains($0.number) }
                #expect(limits.counts.open == open.count)
                #expect(open.count { $0.place.refusal != nil } <= sizes.readiness)
                let usual = open.filter { $0.place.refusal == nil }
                #expect(usual.count <= sizes.all)
                #expect(usual.count { $0.address != "127.0.0.1" } <= sizes.all - sizes.local)
                for address in addresses {
                    let most = address.hasPrefix("192") ? sizes.share : sizes.proxyShare
                    #expect(usual.count { $0.address == address } <= most)
                }
            }
        }
    }
}
