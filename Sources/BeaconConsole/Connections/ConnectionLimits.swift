import BeaconGateway
import BeaconSupport
import CLibrary
import NIOCore

/// The limits of connections: the total number of places and each client's share.
///
/// Connections without a running request make room: for a new connection, the server closes an idle connection of the
/// client that has the most of them. So idle connections never keep a client out. If running requests use all places,
/// the server accepts a few more connections for readiness checks only, so that health checks always get their answer.
final class ConnectionLimits: Sendable {
    /// The numbers of places.
    struct Sizes: Sendable {
        /// All places. With beacond's own files this is well below the 1 024 files that a process may open by default.
        /// If it may open fewer, all sizes are smaller.
        var all = 512
        /// The places of one client. A household or an office behind one address counts as one client.
        var share = 128
        /// The places of a trusted proxy or of this machine, which may run a proxy. Each of them stands for many
        /// clients.
        var proxyShare = 384
        /// The places reserved for clients on this machine.
        var local = 32
        /// The additional places for readiness checks, and each client's share of them.
        var readiness = 16
        var readinessShare = 4
        /// The largest number of open connections, including those that have lost their place and are still closing.
        var open = 768

        /// Creates the sizes for a process that may open this many files.
        init(files: Int = sysconf(Int32(_SC_OPEN_MAX))) {
            // The rest is for beacond's own files, destinations and programs.
            let part = files < 0 ? 1 : min(1, max(0.03, Double(files - 192) / 832))
            for size in [\Self.all, \.share, \.proxyShare, \.local, \.readiness, \.readinessShare, \.open] {
                self[keyPath: size] = max(2, Int(Double(self[keyPath: size]) * part))
            }
        }
    }

    /// The place of a connection.
    struct Place: Sendable {
        fileprivate var number: Int
        /// The reason for refusing all requests except readiness checks, or nil for a place for all requests.
        var refusal: Refusal?
    }

    /// The reason why a client's requests have no place.
    enum Refusal: Sendable {
        /// The client uses its whole share.
        case share
        /// All places are in use.
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

    /// An event to count.
    enum Event: Sendable {
        case refusal, slowRequest, slowReader
    }

    private struct Connection {
        var client: Client
        var isForReadiness: Bool
        /// The turn since which no request is running, or nil during a request.
        var restingSince: Int?
        var close: @Sendable () -> Void
    }

    private struct State {
        var connections: [Int: Connection] = [:]
        /// The connections that have lost their place and are still closing.
        var closing: Set<Int> = []
        var turn = 0
        var counts = Counts()
    }

    private let sizes: Sizes
    private let state = Locked(State())

    /// Creates the limits of a server without connections.
    init(_ sizes: Sizes = Sizes()) { self.sizes = sizes }

    /// The current counts.
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

    /// Takes a place for a new connection, if necessary from another one.
    ///
    /// - Parameters:
    ///   - client: the client.
    ///   - close: closes the connection. It is called at most once, from any thread, if another connection takes the
    ///     place.
    /// - Returns: The place, or nil if all places are taken, including those for readiness checks.
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
        // Outside the lock, since closing a connection on this thread calls `leave` at once.
        displaced?.close()
        return place
    }

    /// Marks a connection as having a running request.
    ///
    /// - Returns: False if another connection has taken the place.
    func begin(_ place: Place) -> Bool {
        state.withLock { state in
            guard state.connections[place.number] != nil else { return false }
            state.connections[place.number]?.restingSince = nil
            return true
        }
    }

    /// Marks a connection as idle.
    func rest(_ place: Place) {
        state.withLock { state in
            state.turn += 1
            state.connections[place.number]?.restingSince = state.turn
        }
    }

    /// Frees the place of a connection.
    func leave(_ place: Place) {
        state.withLock { state in
            state.connections[place.number] = nil
            state.closing.remove(place.number)
        }
    }

    // MARK: - Room

    /// The room for a new connection: a free place, another connection's place, or none.
    private struct Room {
        var displaced: Connection?
        var refusal: Refusal?

        /// Creates the room from another connection's place, or a refusal without one.
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
            // Clients on other machines never get the places reserved for this one.
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

    /// Takes the place of an idle connection among those that match a predicate: of the client with the most of them,
    /// the connection that has been idle longest. So a crowd displaces its own connections.
    private func displace(in state: inout State, where isMeant: (Connection) -> Bool) -> Connection? {
        let resting = state.connections.compactMap { number, connection in
            isMeant(connection)
                ? connection.restingSince.map { (number: number, key: connection.client.key, since: $0) } : nil
        }
        let crowds = Dictionary(grouping: resting, by: \.key).values
        // Between crowds of the same size, the oldest connection decides.
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
    /// A client, as the limits distinguish clients.
    struct Client: Sendable {
        /// The client's address. For IPv6 it is the /64 network that one household or machine has, except for
        /// link-local addresses, which all share one network.
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
        ///   - settings: the settings with the trusted proxies.
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
