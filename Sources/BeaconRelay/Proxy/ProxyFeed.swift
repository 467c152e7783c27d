import BeaconModel
package import BeaconRadio
import BeaconReceivers
import BeaconSupport

/// The adverts of one source on their way to the devices of the proxy.
package final class ProxyFeed: AdvertObserver {
    private struct State {
        var names: [String] = []
        /// The receivers' places in the proxy; nil for a receiver without a place.
        var receivers: [ProxyServer.Place?] = []
        var scanners: [ESPHomeDevice.Scanner] = []
        /// The adverts that wait for their time.
        var held: [(Reception, [UInt8])] = []
    }

    private let server: ProxyServer
    private let source: Int
    private let isEach: Bool
    private let isLive: Bool
    private let isOpen: Bool
    private let state = Locked(State())
    /// Returns the name of a receiver for people.
    private let title: @Sendable (String) -> String

    init(
        _ server: ProxyServer, source: Int, isEach: Bool, isLive: Bool, isOpen: Bool,
        title: @escaping @Sendable (String) -> String
    ) {
        self.server = server
        self.source = source
        self.isEach = isEach
        self.isLive = isLive
        self.isOpen = isOpen
        self.title = title
    }

    deinit { server.keep([], of: source) }

    /// Adds an advert of the source. It costs little while no client subscribes.
    package func hear(_ reception: Reception, _ advert: RawSpan) {
        guard server.isWanted, !reception.isDamaged else { return }
        if isLive {
            send(reception, advert)
        } else {
            let bytes = advert.withUnsafeBytes { Array($0) }
            state.withLock { $0.held.append((reception, bytes)) }
        }
    }

    /// Passes on the held adverts. A source that is not a radio calls this at their time.
    package func release() {
        guard !isLive else { return }
        let held = state.withLock { state in
            defer { state.held = [] }
            return state.held
        }
        for (reception, bytes) in held { send(reception, bytes.span.bytes) }
    }

    private func send(_ reception: Reception, _ advert: RawSpan) {
        let index = Int(reception.receiver.index)
        // A new receiver gets its place with the next update.
        guard let place = state.withLock({ index < $0.receivers.count ? $0.receivers[index] : nil }) else { return }
        let isChange = place.stream.hear(
            reception.report, advert, by: isEach ? nil : place.choice, at: RadioClock.now())
        if isChange { server.wake() }
    }

    /// Sets the receivers of the source and their states.
    ///
    /// - Parameters:
    ///   - names: their names.
    ///   - statuses: their statuses; empty for sources that always hear.
    package func update(names: [String], statuses: [ReceiverStatus]) {
        let new = state.withLock { state -> [String] in
            guard names != state.names else { return [] }
            defer { state.names = names }
            // A source that is opened again finds its receivers again, perhaps in another order.
            guard !state.names.isEmpty, names.starts(with: state.names) else {
                (state.receivers, state.scanners) = ([], [])
                return names
            }
            return Array(names.dropFirst(state.names.count))
        }
        if new.count == names.count { server.keep(names, of: source) }
        for name in new {
            let place = server.place(of: name, in: source, titled: title(name), isOpen: isOpen)
            state.withLock { state in
                state.receivers.append(place)
                state.scanners.append(.starting)
            }
        }
        set(statuses.isEmpty ? names.map { _ in .running } : statuses.map(\.state.scanner))
    }

    /// Notes that the source delivers nothing more, temporarily or permanently.
    package func lose() { set(state.withLock { $0.names.map { _ in .failed } }) }

    private func set(_ scanners: [ESPHomeDevice.Scanner]) {
        let changes = state.withLock { state in
            var changes: [(number: Int, scanner: ESPHomeDevice.Scanner)] = []
            for (index, scanner) in scanners.enumerated()
            where index < state.scanners.count && state.scanners[index] != scanner {
                state.scanners[index] = scanner
                if let place = state.receivers[index] { changes.append((place.number, scanner)) }
            }
            return changes
        }
        for change in changes { server.set(change.scanner, of: change.number) }
    }
}

extension RadioState {
    /// The state of the scanner.
    fileprivate var scanner: ESPHomeDevice.Scanner {
        switch self {
        case .poweredOn: .running
        case .unknown: .starting
        case .resetting, .unsupported, .unauthorized, .poweredOff: .failed
        }
    }
}
