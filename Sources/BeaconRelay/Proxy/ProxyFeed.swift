import BeaconModel
package import BeaconRadio
import BeaconReceivers
import BeaconSupport

/// What one source hears on its way to the devices of a proxy.
package final class ProxyFeed: AdvertObserver {
    private struct State {
        var names: [String] = []
        /// The receivers' places in the proxy, and the streams that have their adverts; nil for one that has no place.
        var receivers: [ProxyServer.Place?] = []
        var scanners: [ESPHomeDevice.Scanner] = []
        /// What is heard once its time has come.
        var held: [(Reception, [UInt8])] = []
    }

    private let server: ProxyServer
    private let source: Int
    private let isEach: Bool
    private let isLive: Bool
    private let state = Locked(State())
    /// Returns the name of a receiver for people.
    private let title: @Sendable (String) -> String

    init(
        _ server: ProxyServer, source: Int, isEach: Bool, isLive: Bool, title: @escaping @Sendable (String) -> String
    ) {
        self.server = server
        self.source = source
        self.isEach = isEach
        self.isLive = isLive
        self.title = title
    }

    /// Adds an advert as the source gives it. It costs little while nobody wants adverts.
    package func hear(_ reception: Reception, _ advert: RawSpan) {
        guard server.isWanted, !reception.isDamaged else { return }
        if isLive {
            send(reception, advert)
        } else {
            let bytes = advert.withUnsafeBytes { Array($0) }
            state.withLock { $0.held.append((reception, bytes)) }
        }
    }

    /// Passes on what was held: the time has come at which a source that is no radio heard it.
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
        // One that was met just now has its place from the next update on.
        guard let place = state.withLock({ index < $0.receivers.count ? $0.receivers[index] : nil }) else { return }
        let isChange = place.stream.hear(
            reception.report, advert, by: isEach ? nil : place.choice, at: RadioClock.now())
        if isChange { server.wake() }
    }

    /// Notes the source's receivers and whether they hear.
    ///
    /// - Parameters:
    ///   - names: their names.
    ///   - statuses: their status; none for what always hears.
    package func update(names: [String], statuses: [ReceiverStatus]) {
        let new = state.withLock { state -> [String] in
            guard names != state.names else { return [] }
            defer { state.names = names }
            // A source that is opened anew meets its receivers anew, perhaps in another order.
            guard !state.names.isEmpty, names.starts(with: state.names) else {
                (state.receivers, state.scanners) = ([], [])
                return names
            }
            return Array(names.dropFirst(state.names.count))
        }
        for name in new {
            let place = server.place(of: name, in: source, titled: title(name))
            state.withLock { state in
                state.receivers.append(place)
                state.scanners.append(.starting)
            }
        }
        set(statuses.isEmpty ? names.map { _ in .running } : statuses.map(\.state.scanner))
    }

    /// Notes that the source gives nothing more, for now or for ever.
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
    /// Whether a scanner runs in this state.
    fileprivate var scanner: ESPHomeDevice.Scanner {
        switch self {
        case .poweredOn: .running
        case .unknown: .starting
        case .resetting, .unsupported, .unauthorized, .poweredOff: .failed
        }
    }
}
