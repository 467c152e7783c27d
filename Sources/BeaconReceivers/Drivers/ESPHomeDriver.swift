import BeaconModel
import BeaconRadio
import BeaconSupport
import CLibrary

/// The driver of Bluetooth proxies of ESPHome.
final class ESPHomeDriver: ReceiverDriver {
    /// The waits between attempts to connect.
    private static let reconnection = RetryPolicy(base: .seconds(1), maximum: .seconds(60))

    /// The longest time for a device to accept a connection, in nanoseconds.
    private static let connectionTime = 10 * Timestamp.nanosecondsPerSecond

    /// How long to search for a first device before a notice, in nanoseconds.
    private static let searchTime = 30 * Timestamp.nanosecondsPerSecond

    /// The longest pause between two scans of a device, in nanoseconds.
    private static let restartTime = 3 * Timestamp.nanosecondsPerSecond

    /// The number of failures after which an announced device is forgotten.
    private static let maximumFailures = 8

    /// The most devices: as many as there can be receivers.
    private static let maximumNodes = 200

    /// The most devices including those that were found and are not receivers.
    private static let maximumOthers = 1024

    let name: String
    let source: ESPHomeSource
    private let resolver = HostResolver()
    let browser: ServiceBrowser
    let start: Timestamp
    var nodes: [Node] = []
    var network: ReceiverNetwork
    private var hasReportedSearch = false
    private var hasFound = false
    /// The notices about devices that the user did not name.
    private var reportedStrangers: Set<String> = []
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

    var receiverKeys: [String] { network.nameKeys }

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
    private func addFoundDevices() {
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
    private func forgetStrangers() {
        nodes.removeAll { node in
            guard node.isFound, !node.isIdentified, node.failures >= Self.maximumFailures, node.socket < 0 else {
                return false
            }
            browser.forget(host: node.target.host, port: node.target.port)
            return true
        }
    }

    private func reportSearch(at now: Timestamp, _ batch: inout AdvertBatch) {
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

/// The connections to devices: their addresses, and the bytes in both directions.
extension ESPHomeDriver {
    func begin(_ node: Node, at now: Timestamp, _ batch: inout AdvertBatch) {
        // An announced address may be out of date. The system's resolver may have a newer one.
        if let literal = HostResolver.literal(node.target.host, port: node.target.port) {
            connect(node, to: literal, at: now, &batch)
        } else if let known = browser.address(of: node.target.host), node.isFound || node.failures % 2 == 0 {
            connect(node, to: HostResolver.address(known, port: node.target.port), at: now, &batch)
        } else if node.isFound {
            // Its address arrives with the next answer. Anyone can announce a name, so it is not looked up elsewhere.
            node.failures += 1
            node.phase = .waiting(until: now.advanced(by: 2 * Timestamp.nanosecondsPerSecond))
        } else {
            node.phase = .resolving(since: now)
            resolver.resolve(node.target.host, port: node.target.port)
        }
    }

    func connect(
        _ node: Node, to address: HostResolver.Address, at now: Timestamp, _ batch: inout AdvertBatch
    ) {
        let kind = SocketKind.nonBlocking(SocketKind.stream)
        node.socket = socket(address.family, kind, 0)
        guard node.socket >= 0 else {
            return fail(node, "cannot open a socket for it (\(String(cString: strerror(errno))))", at: now, &batch)
        }
        let result = address.bytes.withUnsafeBytes { bytes in
            bytes.baseAddress.map {
                CLibrary.connect(node.socket, $0.assumingMemoryBound(to: sockaddr.self), socklen_t(bytes.count))
            } ?? -1
        }
        guard result == 0 || errno == EINPROGRESS else {
            return fail(node, "cannot connect: \(String(cString: strerror(errno)))", at: now, &batch)
        }
        node.phase = .connecting(since: now)
    }

    private func finishConnecting(_ node: Node, at now: Timestamp, _ batch: inout AdvertBatch) {
        var error: Int32 = 0
        var count = socklen_t(MemoryLayout<Int32>.size)
        getsockopt(node.socket, SOL_SOCKET, SO_ERROR, &error, &count)
        guard error == 0 else {
            return fail(
                node,
                "cannot connect to port \(node.target.port) (\(String(cString: strerror(error)))). "
                    + ["its address is wrong", "it has no api: in its configuration"].asPossibleCauses, at: now,
                &batch)
        }
        do throws(ESPHomeError) {
            let key = source.key.flatMap(ESPHomeSource.bytes(of:))
            // Another client that had the adverts, and restarts together with the device, gets to subscribe first.
            let notBefore = node.wasRefused ? now.advanced(by: ESPHomeClient.askAgain) : .zero
            node.client = try ESPHomeClient(
                key: key, mayTake: source.mayTake, isWanted: network.isListening, notBefore: notBefore, at: now)
            node.phase = .connected
            var one: Int32 = 1
            setsockopt(
                node.socket, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout.size(ofValue: one)))
            write(node, at: now, &batch)
        } catch {
            fail(node, error.message, at: now, &batch)
        }
    }

    func read(
        _ node: Node, at now: Timestamp, _ batch: inout AdvertBatch
    ) {
        // Limited, so that a device that floods does not keep the others from being read.
        for _ in 0..<16 {
            let count = recv(node.socket, &buffer, buffer.count, 0)
            if count < 0, errno == EAGAIN || errno == EINTR { return }
            guard count > 0 else { return fail(node, "it ended the connection", at: now, &batch) }
            guard var client = node.client else { return }
            // Keep this the only copy, so that it is changed in place.
            node.client = nil
            defer { if node.socket >= 0 { node.client = client } }
            var events: [ESPHomeClient.Event] = []
            let bytes = Array(buffer[..<count])
            let error = client.receive(
                bytes.span.bytes, at: now,
                deliver: { address, rssi, advert in
                    guard let place = node.place else { return }
                    network.noteSign(of: place, at: now)
                    guard network.isListening else { return }
                    network.receiveAdvert(of: place, at: now, address: address, rssi: rssi, advert: advert, &batch)
                }, report: { events.append($0) })
            for event in events where node.socket >= 0 { note(event, of: node, at: now, &batch) }
            guard node.socket >= 0 else { return }
            if let error {
                // The device asked to disconnect. Send the response first.
                node.client = client
                write(node, at: now, &batch)
                guard node.socket >= 0 else { return }
                if error.code == .noProxy, node.isFound {
                    node.isOther = true
                    return pause(node, for: 3600, at: now)
                }
                return fail(node, error.message, error.code, at: now, &batch)
            }
            if count < buffer.count { return }
        }
    }

    func write(_ node: Node, at now: Timestamp, _ batch: inout AdvertBatch) {
        guard case .connected = node.phase else { return }
        node.unsent += node.client?.takeOutput() ?? []
        while !node.unsent.isEmpty {
            let count = CLibrary.send(node.socket, node.unsent, node.unsent.count, Int32(MSG_NOSIGNAL))
            if count < 0, errno == EINTR { continue }
            // A device that accepts no more data is lost long before 64 KiB are queued.
            if count < 0, errno == EAGAIN, node.unsent.count < 1 << 16 { return }
            guard count > 0 else { return fail(node, "it ended the connection", at: now, &batch) }
            node.unsent.removeFirst(count)
        }
    }

    private func fail(
        _ node: Node, _ reason: String, _ code: ESPHomeError.Code? = nil, at now: Timestamp,
        _ batch: inout AdvertBatch
    ) {
        closeSocket(of: node)
        setState(.resetting, of: node, at: now, &batch)
        node.place = nil
        node.failures += 1
        let wait = Self.reconnection.wait(afterFailures: node.failures, asked: nil, using: &random)
        node.phase = .waiting(until: now.advanced(by: Int64(wait / .nanoseconds(1))))
        if node.isFound, !node.isIdentified {
            // Anyone can announce anything. But a device that needs a key, or is too old, is a real one.
            guard let code, ![.damaged, .noProxy, .ended].contains(code), reportedStrangers.count < Self.maximumNodes,
                reportedStrangers.insert("\(node.title) \(reason)").inserted
            else { return }
        }
        report(node, .adapterLost, "\(reason.sentence) Trying again", &batch)
    }

    /// Leaves a device alone for a number of seconds.
    func pause(_ node: Node, for seconds: Int64, at now: Timestamp) {
        closeSocket(of: node)
        node.phase = .waiting(until: now.advanced(by: seconds * Timestamp.nanosecondsPerSecond))
    }

    private func closeSocket(of node: Node) {
        if node.socket >= 0 { CLibrary.close(node.socket) }
        node.socket = -1
        node.client = nil
        node.unsent = []
        node.stoppedSince = nil
    }
}

/// The events of devices, and their effect on the receivers.
extension ESPHomeDriver {
    func note(
        _ event: ESPHomeClient.Event, of node: Node, at now: Timestamp, _ batch: inout AdvertBatch
    ) {
        switch event {
        case .met(let device): identify(device, node, at: now, &batch)
        case .wouldTake:
            setState(.unauthorized, of: node, at: now, &batch)
            report(
                node, .degraded,
                "its version of ESPHome gives its adverts to the newest client only. A Home Assistant "
                    + "that uses it would lose them without notice, so this client did not subscribe. If no other "
                    + "program needs them, or gets them from here (beacon proxy; proxy: in beacond's file), "
                    + "add ?take to the source, or take: true in beacond's file",
                &batch)
        case .subscribed(let isScanning): noteScanner(isScanning, of: node, at: now, &batch)
        case .refused:
            node.wasRefused = true
            setState(.unauthorized, of: node, at: now, &batch)
            report(
                node, .adapterLost,
                "it sends no adverts. It serves one program only, and another one, such as "
                    + "Home Assistant, may have subscribed. "
                    + "Trying again every five minutes", &batch)
        case .lost:
            setState(.unauthorized, of: node, at: now, &batch)
            report(
                node, .adapterLost,
                "another program took its adverts. Stop using the device there, and restart this program",
                &batch)
        case .alive:
            if let place = node.place, node.stoppedSince == nil { network.noteSign(of: place, at: now) }
        case .stalled(let since):
            if let place = node.place { network.reportDeafness(of: place, from: since, to: now, &batch) }
        }
    }

    /// Notes whether a device's scanner runs. It pauses briefly between two scans, which is normal.
    private func noteScanner(_ isScanning: Bool, of node: Node, at now: Timestamp, _ batch: inout AdvertBatch) {
        node.failures = 0
        node.wasRefused = false
        guard isScanning else {
            node.stoppedSince = node.stoppedSince ?? now
            return
        }
        if let since = node.stoppedSince, let place = node.place {
            network.reportDeafness(of: place, from: since, to: now, &batch)
        }
        node.stoppedSince = nil
        let message = "connected and listening"
        if node.reported != [message] { node.reported = [] }
        report(node, .adapterUsed, message, &batch)
        setState(.poweredOn, of: node, at: now, &batch)
    }

    /// Reports a scanner that has been stopped for longer than a pause between two scans.
    private func reviewScanner(of node: Node, at now: Timestamp, _ batch: inout AdvertBatch) {
        guard let since = node.stoppedSince, now.since(since) >= Self.restartTime else { return }
        setState(.resetting, of: node, at: now, &batch)
        report(node, .degraded, "its scanner does not run; restart it and check its log", &batch)
        node.stoppedSince = now
    }

    func identify(
        _ device: ESPHomeClient.Device, _ node: Node, at now: Timestamp, _ batch: inout AdvertBatch
    ) {
        let name = device.name.isEmpty ? node.target.host : device.name
        node.title = name.printable
        node.address = device.address
        node.isIdentified = true
        // Its adverts are this machine's own, or already arrive by another path.
        if node.isFound, device.project == ESPHomeDevice.networkProject {
            node.isOther = true
            report(
                node, .adapterUsed,
                "it forwards adverts of other receivers, so it is not used. "
                    + "To use it, name it: esphome:\(node.target.host.printable)",
                &batch)
            return pause(node, for: 3600, at: now)
        }
        // A device may be listed both by name and by address.
        let others = nodes.filter { $0 !== node && $0.socket >= 0 && $0.place != nil }
        if others.contains(where: { !$0.address.isEmpty && $0.address == node.address }) {
            report(
                node, .degraded, "it is listed twice; ignoring \(node.target.host.printable)", &batch)
            return pause(node, for: 60, at: now)
        }
        var place = network.meet(name, at: now)
        if let taken = place, others.contains(where: { $0.place == taken }) {
            // Another device already has this name.
            place = network.meet("\(name) \(device.address)", at: now)
        }
        guard let place else {
            report(
                node, .degraded,
                "it is not used: there are 200 receivers already, or its name is longer than 64 bytes", &batch)
            return pause(node, for: 60, at: now)
        }
        node.place = place
        if network.receivers[place].isHearing { setState(.unknown, of: node, at: now, &batch) }
    }

    private func setState(_ state: RadioState, of node: Node, at now: Timestamp, _ batch: inout AdvertBatch) {
        if let place = node.place { network.setState(state, of: place, at: now, into: &batch) }
    }
}
