import BeaconGateway
import BeaconSupport
import CLibrary
import NIOCore

/// The places of connections: how many there are, and how many of them one client may have.
///
/// Connections without a request under way make room: one of the client that has the most of them is closed for a new
/// one. So idle connections never keep a client out. Where requests have all the places, a few more connections are let
/// in that may ask for the readiness alone, so that health checks get their answer whatever else happens.
final class ConnectionLimits: Sendable {
    /// The numbers of places.
    struct Sizes: Sendable {
        /// All places: with the files of beacond itself well below the 1 024 that a process may open by default.
        var all = 512
        /// The places of one client. A household or an office behind one address is one client.
        var share = 128
        /// The places of a trusted proxy, and of this machine, where a proxy may be too: each has many clients.
        var proxyShare = 384
        /// The places that only clients of this machine may have.
        var local = 32
        /// The places beyond all others for the readiness alone, and those of one client.
        var readiness = 16
        var readinessShare = 4
        /// The connections that may be open, with those that have lost their place and are still closing.
        var open = 768
    }

    /// The place of a connection.
    struct Place: Sendable {
        fileprivate var number: Int
        /// The reason for refusing every request but the one for the readiness; nil for a place for all requests.
        var refusal: Refusal?
    }

    /// The reason why there is no place for a client's requests.
    enum Refusal: Sendable {
        /// The client has its share.
        case share
        /// There are no places left.
        case full
    }

    /// The counts of connections and requests since the start.
    struct Counts: Sendable {
        var open = 0
        var displaced = 0
        var refused = 0
        var slowRequests = 0
        var slowReaders = 0
    }

    /// An event that a handler counts.
    enum Event: Sendable {
        case refusal, slowRequest, slowReader
    }

    private struct Connection {
        var client: Client
        var isForReadiness: Bool
        /// The turn since which it has no request under way; nil while it has one.
        var restingSince: Int?
        var close: @Sendable () -> Void
    }

    private struct State {
        var connections: [Int: Connection] = [:]
        /// The connections that have lost their place, until they have ended.
        var closing: Set<Int> = []
        var turn = 0
        var counts = Counts()
    }

    private let sizes: Sizes
    private let state = Locked(State())

    /// Creates the limits of a server without connections.
    init(_ sizes: Sizes = Sizes()) { self.sizes = sizes }

    /// The counts until now.
    var counts: Counts {
        state.withLock { state in
            var counts = state.counts
            counts.open = state.connections.count
            return counts
        }
    }

    /// Counts an event.
    func note(_ event: Event) {
        state.withLock { state in
            switch event {
            case .refusal: state.counts.refused += 1
            case .slowRequest: state.counts.slowRequests += 1
            case .slowReader: state.counts.slowReaders += 1
            }
        }
    }

    /// Takes a place for a new connection, if need be that of another one.
    ///
    /// - Parameters:
    ///   - client: the client.
    ///   - close: closes the connection; called from any thread, once at most, where another one gets its place.
    /// - Returns: the place; nil if all are taken, also those for the readiness.
    func enter(_ client: Client, close: @escaping @Sendable () -> Void) -> Place? {
        let (place, displaced) = state.withLock { state -> (Place?, Connection?) in
            guard state.connections.count + state.closing.count < sizes.open else {
                state.counts.refused += 1
                return (nil, nil)
            }
            var room = makeRoom(for: client, in: &state)
            let refusal = room.refusal
            if refusal != nil { room = makeReadinessRoom(for: client, in: &state) }
            guard room.refusal == nil else {
                state.counts.refused += 1
                return (nil, nil)
            }
            state.turn += 1
            let number = state.turn
            state.connections[number] = Connection(
                client: client, isForReadiness: refusal != nil, restingSince: number, close: close)
            return (Place(number: number, refusal: refusal), room.displaced)
        }
        // Outside the lock, since a connection on this thread ends, and leaves its place, within the call.
        displaced?.close()
        return place
    }

    /// Notes that a request of a connection is under way.
    ///
    /// - Returns: false where another connection has got the place.
    func begin(_ place: Place) -> Bool {
        state.withLock { state in
            guard state.connections[place.number] != nil else { return false }
            state.connections[place.number]?.restingSince = nil
            return true
        }
    }

    /// Notes that no request of a connection is under way.
    func rest(_ place: Place) {
        state.withLock { state in
            state.turn += 1
            state.connections[place.number]?.restingSince = state.turn
        }
    }

    /// Gives the place of a connection back.
    func leave(_ place: Place) {
        state.withLock { state in
            state.connections[place.number] = nil
            state.closing.remove(place.number)
        }
    }

    // MARK: - Room

    /// The room for a new connection: a free place, that of another connection, or none.
    private struct Room {
        var displaced: Connection?
        var refusal: Refusal?

        /// The place of another connection, if there is one.
        init(of displaced: Connection?, or refusal: Refusal) {
            self.displaced = displaced
            self.refusal = displaced == nil ? refusal : nil
        }

        init() {}
    }

    private func makeRoom(for client: Client, in state: inout State) -> Room {
        let others = state.connections.values.filter { !$0.isForReadiness }
        if others.count(where: { $0.client.key == client.key }) >= (client.isProxy ? sizes.proxyShare : sizes.share) {
            return Room(of: displace(in: &state) { !$0.isForReadiness && $0.client.key == client.key }, or: .share)
        }
        let local = others.count(where: \.client.isLocal)
        let isFarFull = !client.isLocal && others.count - local >= sizes.all - sizes.local
        guard isFarFull || others.count >= sizes.all else { return Room() }
        let other = displace(in: &state) {
            // No client of another machine gets the places that are kept for this one.
            let isKept = $0.client.isLocal && (isFarFull || local <= sizes.local)
            return !$0.isForReadiness && (client.isLocal || !isKept)
        }
        return Room(of: other, or: .full)
    }

    private func makeReadinessRoom(for client: Client, in state: inout State) -> Room {
        let all = state.connections.values.filter(\.isForReadiness)
        let isShared = all.count(where: { $0.client.key == client.key }) >= sizes.readinessShare
        guard isShared || all.count >= sizes.readiness else { return Room() }
        let other = displace(in: &state) { $0.isForReadiness && (!isShared || $0.client.key == client.key) }
        return Room(of: other, or: .full)
    }

    /// Takes the place of a connection that rests, among those that a function names: of the client that has the most
    /// of them, the one that has rested longest. So a crowd displaces its own connections.
    private func displace(in state: inout State, where isMeant: (Connection) -> Bool) -> Connection? {
        let resting = state.connections.compactMap { number, connection in
            isMeant(connection)
                ? connection.restingSince.map { (number: number, key: connection.client.key, since: $0) } : nil
        }
        let crowds = Dictionary(grouping: resting, by: \.key).values
        // The oldest decides between crowds of one size.
        let oldest = crowds.compactMap { crowd in
            crowd.min { $0.since < $1.since }.map { (size: crowd.count, number: $0.number, since: $0.since) }
        }
        guard let chosen = oldest.max(by: { ($0.size, -$0.since) < ($1.size, -$1.since) }) else { return nil }
        state.counts.displaced += 1
        state.closing.insert(chosen.number)
        return state.connections.removeValue(forKey: chosen.number)
    }
}

extension ConnectionLimits {
    /// A client, as far as connections tell it from others.
    struct Client: Sendable {
        /// The address. Of IPv6 it is the network of 64 bits that one household or machine has for itself, but for the
        /// addresses of a link, which are all of one network.
        var key: String
        /// True for clients on this machine.
        var isLocal: Bool
        /// True for an address that may stand for many clients.
        var isProxy: Bool

        /// Creates the client at an address.
        ///
        /// - Parameters:
        ///   - address: the other end of the connection.
        ///   - local: this end of it.
        ///   - settings: says which proxies are trusted.
        init(at address: SocketAddress?, to local: SocketAddress? = nil, _ settings: WebSettings) {
            let text = address?.plainAddress ?? ""
            isLocal = WebSettings.isLocal(address?.plainAddress, to: local?.plainAddress)
            isProxy = isLocal || settings.trusts(text)
            key = text
            var bytes = [UInt8](repeating: 0, count: 16)
            guard !isProxy, inet_pton(AF_INET6, text, &bytes) == 1 else { return }
            let network = bytes.prefix(8)
            let isOfLink = network[0] == 0xFE && network[1] & 0xC0 == 0x80
            if !isOfLink { key = network.map { String($0, radix: 16) }.joined(separator: ".") + "/64" }
        }
    }
}
