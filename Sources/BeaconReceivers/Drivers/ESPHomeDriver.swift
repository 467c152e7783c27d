import BeaconModel
import BeaconRadio
import BeaconSupport
import CLibrary

/// The driver of Bluetooth proxies of ESPHome.
final class ESPHomeDriver: ReceiverDriver {
    /// The waits between attempts to connect.
    static let reconnection = RetryPolicy(base: .seconds(1), maximum: .seconds(60))

    /// The longest time for a device to accept a connection, in nanoseconds.
    static let connectionTime = 10 * Timestamp.nanosecondsPerSecond

    /// How long to search for a first device before a notice, in nanoseconds.
    static let searchTime = 30 * Timestamp.nanosecondsPerSecond

    /// The longest pause between two scans of a device, in nanoseconds.
    static let restartTime = 3 * Timestamp.nanosecondsPerSecond

    /// The number of failures after which an announced device is forgotten.
    static let maximumFailures = 8

    /// The most devices: as many as there can be receivers.
    static let maximumNodes = 200

    /// The most devices including those that were found and are not receivers.
    static let maximumOthers = 1024

    let name: String
    let source: ESPHomeSource
    let resolver = HostResolver()
    let browser: ServiceBrowser
    let start: Timestamp
    var nodes: [Node] = []
    var network: ReceiverNetwork
    var hasReportedSearch = false
    var hasFound = false
    /// The notices about devices that the user did not name.
    var reportedStrangers: Set<String> = []
    var random = SystemRandom()
    var buffer = [UInt8](repeating: 0, count: 64 * 1024)

    /// The reason why the lookup of a device's address failed.
    private static let unresolved =
        "its address cannot be found. "
        + ["the name is misspelled", "the network or its name server is not up"].asPossibleCauses

    /// A device and the connection to it.
    final class Node {
        enum Phase {
            /// The resolver is looking up its address.
            case resolving(since: Timestamp)
            /// The next attempt is due at that time.
            case waiting(until: Timestamp)
            case connecting(since: Timestamp)
            case connected
        }

        let target: ESPHomeSource.Node
        /// True if the driver found it, false if the user named it.
        let isFound: Bool
        /// The name that the device reported; before that, its host name.
        var title: String
        var phase = Phase.waiting(until: .zero)
        var socket: Int32 = -1
        var client: ESPHomeClient?
        var unsent: [UInt8] = []
        var place: Int?
        var failures = 0
        /// The number of lookups of its address.
        var lookups = 0
        /// The notices since it was last listening.
        var reported: Set<String> = []
        /// True if it has no proxy.
        var isOther = false
        var address = ""
        var isIdentified = false
        /// True if another program had its adverts. The next subscription waits longer.
        var wasRefused = false
        /// The time since which its scanner has not run; nil while it runs.
        var stoppedSince: Timestamp?

        init(_ target: ESPHomeSource.Node, isFound: Bool = false) {
            self.target = target
            self.isFound = isFound
            title = target.host.printable
        }
    }

    /// Starts to look for devices and to connect to them.
    ///
    /// - Throws: an error that lists the mistakes in the settings.
    init(_ source: ESPHomeSource) throws(RadioError) {
        let mistakes = source.mistakes()
        guard mistakes.isEmpty else { throw RadioError(.failed, "esphome: \(mistakes.joined(separator: "; "))") }
        self.source = source
        name = source.title
        start = RadioClock.now()
        network = ReceiverNetwork(source.network)
        network.isListening = false
        network.connect(at: start)
        nodes = source.nodes.map { Node($0) }
        browser = ServiceBrowser(
            all: nodes.isEmpty, hosts: source.nodes.map(\.host).filter { $0.lowercased().hasSuffix(".local") },
            reserved: source.network.reservedNames.union(source.network.names.keys), at: start)
    }

    func forEachPoll(_ body: (_ descriptor: Int32, _ events: Int16) -> Void) {
        for descriptor in [resolver.waker.descriptor, browser.descriptor] where descriptor >= 0 {
            body(descriptor, Int16(POLLIN))
        }
        for node in nodes where node.socket >= 0 {
            let events =
                switch node.phase {
                case .connecting: POLLOUT
                default: node.unsent.isEmpty ? POLLIN : POLLIN | POLLOUT
                }
            body(node.socket, Int16(events))
        }
    }

    var deadline: Timestamp {
        nodes.reduce(min(browser.deadline, network.deadline)) { earliest, node in
            switch node.phase {
            case .waiting(let until): min(earliest, until)
            case .resolving(let since), .connecting(let since):
                min(earliest, since.advanced(by: Self.connectionTime))
            case .connected:
                min(
                    earliest, node.client?.deadline ?? .latest,
                    node.stoppedSince.map { $0.advanced(by: Self.restartTime) } ?? .latest)
            }
        }
    }

    var receiverNames: [String] { network.names }

    var receiverStatuses: [ReceiverStatus] { network.statuses }

    // Before the first device has introduced itself no receiver is known that could be deaf.
    var state: RadioState {
        if network.isHearing { return .poweredOn }
        return network.statuses.allSatisfy { $0.state == .unknown } ? .unknown : .resetting
    }

    func scan(_ mode: ScanMode) {
        network.isListening = mode != .off
        for node in nodes { node.client?.want(network.isListening) }
    }

    func process(at now: Timestamp, into batch: inout AdvertBatch) {
        browser.process(at: now)
        addFoundDevices()
        for found in resolver.takeFound() {
            for node in nodes where node.target.host == found.host && node.target.port == found.port {
                guard case .resolving = node.phase else { continue }
                guard !found.addresses.isEmpty else {
                    fail(node, Self.unresolved, at: now, &batch)
                    continue
                }
                // Try them in turn: one of several addresses may be unreachable.
                connect(node, to: found.addresses[node.lookups % found.addresses.count], at: now, &batch)
                node.lookups += 1
            }
        }
        for node in nodes { step(node, at: now, &batch) }
        forgetStrangers()
        network.advance(to: now, into: &batch)
        reportSearch(at: now, &batch)
    }

    func close() {
        resolver.close()
        for node in nodes { closeSocket(of: node) }
    }

    // MARK: - Devices

    /// Adds devices that the browser found.
    func addFoundDevices() {
        guard source.nodes.isEmpty else { return }
        hasFound = hasFound || !browser.services.isEmpty
        for (name, service) in browser.services
        where browser.isReserved(name)
            || nodes.count < Self.maximumOthers && nodes.count(where: { !$0.isOther }) < Self.maximumNodes
        {
            guard !nodes.contains(where: { $0.target.host == service.host && $0.target.port == service.port }) else {
                continue
            }
            nodes.append(Node(ESPHomeSource.Node(host: service.host, port: service.port), isFound: true))
        }
    }

    /// Forgets announced devices that never answered, so that made-up ones do not keep out others.
    func forgetStrangers() {
        nodes.removeAll { node in
            guard node.isFound, !node.isIdentified, node.failures >= Self.maximumFailures, node.socket < 0 else {
                return false
            }
            browser.forget(host: node.target.host, port: node.target.port)
            return true
        }
    }

    func reportSearch(at now: Timestamp, _ batch: inout AdvertBatch) {
        guard !hasReportedSearch, nodes.isEmpty, !hasFound, now.since(start) > Self.searchTime else { return }
        hasReportedSearch = true
        notice(
            .livenessUnknown, name,
            "found no ESPHome device in 30 s. If the network does not forward multicast, "
                + "name the device: esphome:192.168.1.20",
            &batch)
    }

    func step(
        _ node: Node, at now: Timestamp, _ batch: inout AdvertBatch
    ) {
        switch node.phase {
        case .resolving(let since):
            if now.since(since) >= Self.connectionTime {
                fail(node, Self.unresolved, at: now, &batch)
            }
        case .waiting(let until): if now >= until { begin(node, at: now, &batch) }
        case .connecting(let since):
            var poll = pollfd(fd: node.socket, events: Int16(POLLOUT), revents: 0)
            if CLibrary.poll(&poll, 1, 0) > 0 {
                finishConnecting(node, at: now, &batch)
            } else if now.since(since) >= Self.connectionTime {
                fail(
                    node, "it does not answer. " + ["it is not up", "its address is wrong"].asPossibleCauses, at: now,
                    &batch)
            }
        case .connected:
            read(node, at: now, &batch)
            if case .connected = node.phase,
                let error = node.client?.advance(to: now, report: { note($0, of: node, at: now, &batch) })
            {
                fail(node, error.message, at: now, &batch)
            }
            if case .connected = node.phase { reviewScanner(of: node, at: now, &batch) }
            write(node, at: now, &batch)
        }
    }

    /// Reports an event of a device once, not with each attempt.
    func report(
        _ node: Node, _ kind: RadioNotice.Kind, _ message: String, _ batch: inout AdvertBatch
    ) {
        guard node.reported.count < 16, node.reported.insert(message).inserted else { return }
        notice(kind, node.title, message, &batch)
    }

    func notice(_ kind: RadioNotice.Kind, _ name: String, _ message: String, _ batch: inout AdvertBatch) {
        batch.report(.notice(RadioNotice(kind, adapter: name, message)))
    }
}
