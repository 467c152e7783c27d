import BeaconModel
import BeaconRadio
import BeaconReceivers
import BeaconSupport
import Glibc
import LinuxRadio

/// Bluetooth proxies of ESPHome as the adapters of a radio, so that everything around a radio is the same.
final class ESPHomeDriver: AdapterDriver {
    /// The waits between attempts to connect.
    private static let reconnection = RetryPolicy(base: .seconds(1), maximum: .seconds(60))

    /// The longest time until a device accepts a connection, in nanoseconds.
    private static let connectionTime = 10 * Timestamp.nanosecondsPerSecond

    /// The time within which a device should be found, in nanoseconds.
    private static let searchTime = 30 * Timestamp.nanosecondsPerSecond

    /// The longest time between two scans of a device, in nanoseconds.
    private static let restartTime = 3 * Timestamp.nanosecondsPerSecond

    /// How often a device that was announced may fail before it is forgotten.
    private static let mostFailures = 8

    /// The most devices, as many as there are receivers.
    private static let mostNodes = 200

    let name: String
    private let source: ESPHomeSource
    private let resolver = HostResolver()
    private let browser: ServiceBrowser
    private let start: Timestamp
    private var nodes: [Node] = []
    private var network: ReceiverNetwork
    private var mode = ScanMode.off
    private var unanswered: [IBeaconFrame] = []
    private var hasReportedSearch = false
    private var hasFound = false
    /// What was told of devices that nobody named.
    private var toldOfStrangers: Set<String> = []
    private var random = SystemRandom()
    private var buffer = [UInt8](repeating: 0, count: 64 * 1024)

    /// A device and the connection to it.
    private final class Node {
        enum Phase {
            /// Its address is being looked up.
            case resolving(since: Timestamp)
            /// The next attempt is due then.
            case waiting(until: Timestamp)
            case connecting(since: Timestamp)
            case connected
        }

        let target: ESPHomeSource.Node
        /// True where nobody named it.
        let isFound: Bool
        /// Its name in the network once it has said it, else what it was called.
        var title: String
        var phase = Phase.waiting(until: .zero)
        var socket: Int32 = -1
        var client: ESPHomeClient?
        var unsent: [UInt8] = []
        var place: Int?
        var failures = 0
        /// How often its address was looked up.
        var lookups = 0
        /// What was told since it heard last.
        var told: Set<String> = []
        /// True where it has no proxy.
        var isOther = false
        var address = ""
        var hasMet = false
        /// True where another program had its adverts, so that they are asked for later.
        var wasRefused = false
        /// Since when its scanner has not run; nil while it does.
        var stoppedSince: Timestamp?

        init(_ target: ESPHomeSource.Node, isFound: Bool = false) {
            self.target = target
            self.isFound = isFound
            title = target.host.printable
        }
    }

    /// Begins to look for devices, and to connect to them.
    ///
    /// - Throws: an error that lists what is wrong with the settings.
    init(_ source: ESPHomeSource) throws(RadioError) {
        let mistakes = source.mistakes()
        guard mistakes.isEmpty else { throw RadioError(.failed, "esphome: \(mistakes.joined(separator: "; "))") }
        self.source = source
        name = source.title
        start = RadioClock.now()
        network = ReceiverNetwork(source.network)
        network.connect(at: start)
        nodes = source.nodes.map { Node($0) }
        browser = ServiceBrowser(
            all: nodes.isEmpty, hosts: source.nodes.map(\.host).filter { $0.lowercased().hasSuffix(".local") },
            at: start)
    }

    // It waits for several.
    var descriptor: Int32 { -1 }

    var interest: Int16 { Int16(POLLIN) }

    func forEachPoll(_ body: (_ descriptor: Int32, _ interest: Int16) -> Void) {
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
        guard unanswered.isEmpty else { return .zero }
        return nodes.reduce(min(browser.deadline, network.deadline)) { earliest, node in
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

    // Before the first device has said who it is there is nobody who does not hear.
    var state: RadioState {
        if network.isHearing { return .poweredOn }
        return network.statuses.allSatisfy { $0.state == .unknown } ? .unknown : .resetting
    }

    func scan(_ mode: ScanMode) {
        self.mode = mode
        for node in nodes { node.client?.want(mode != .off) }
    }

    func advertise(_ frames: [IBeaconFrame]) { unanswered = frames }

    func process(
        at now: Timestamp, as receiver: ReceiverID, deliver: (Reception, RawSpan) throws -> Void,
        report: (RadioEvent) -> Void
    ) throws {
        for frame in unanswered { report(.advertising(frame, .failure(.proxyCannotSend))) }
        unanswered = []
        browser.process(at: now)
        meetServices()
        for found in resolver.takeFound() {
            for node in nodes where node.target.host == found.host && node.target.port == found.port {
                guard case .resolving = node.phase else { continue }
                guard !found.addresses.isEmpty else {
                    fail(node, "its address cannot be found; check its name and the network", at: now, report)
                    continue
                }
                // One of several may lead nowhere.
                connect(node, to: found.addresses[node.lookups % found.addresses.count], at: now, report)
                node.lookups += 1
            }
        }
        for node in nodes { try step(node, at: now, deliver, report) }
        forgetStrangers()
        network.advance(to: now, report: report)
        reportSearch(at: now, report)
    }

    func close() {
        resolver.close()
        for node in nodes { closeSocket(of: node) }
    }

    // MARK: - Devices

    /// Adds devices that were found.
    private func meetServices() {
        guard source.nodes.isEmpty else { return }
        hasFound = hasFound || !browser.services.isEmpty
        for (_, service) in browser.services where nodes.count(where: { !$0.isOther }) < Self.mostNodes {
            guard !nodes.contains(where: { $0.target.host == service.host && $0.target.port == service.port }) else {
                continue
            }
            nodes.append(Node(ESPHomeSource.Node(host: service.host, port: service.port), isFound: true))
        }
    }

    /// Forgets devices that were announced and were never there, so that invented ones do not keep others out.
    private func forgetStrangers() {
        nodes.removeAll { node in
            guard node.isFound, !node.hasMet, node.failures >= Self.mostFailures, node.socket < 0 else { return false }
            browser.forget(host: node.target.host, port: node.target.port)
            return true
        }
    }

    private func reportSearch(at now: Timestamp, _ report: (RadioEvent) -> Void) {
        guard !hasReportedSearch, nodes.isEmpty, !hasFound, now.since(start) > Self.searchTime else { return }
        hasReportedSearch = true
        notice(
            .livenessUnknown, name,
            "no device of ESPHome was found in 30 s. Name it, as in esphome:192.168.1.20, where the network passes on no multicasts",
            report)
    }

    private func step(
        _ node: Node, at now: Timestamp, _ deliver: (Reception, RawSpan) throws -> Void,
        _ report: (RadioEvent) -> Void
    ) throws {
        switch node.phase {
        case .resolving(let since):
            if now.since(since) >= Self.connectionTime {
                fail(node, "its address cannot be found; check its name and the network", at: now, report)
            }
        case .waiting(let until): if now >= until { begin(node, at: now, report) }
        case .connecting(let since):
            var poll = pollfd(fd: node.socket, events: Int16(POLLOUT), revents: 0)
            if Glibc.poll(&poll, 1, 0) > 0 {
                finishConnecting(node, at: now, report)
            } else if now.since(since) >= Self.connectionTime {
                fail(node, "it does not answer; check that it runs, and its address", at: now, report)
            }
        case .connected:
            try read(node, at: now, deliver, report)
            if case .connected = node.phase,
                let error = node.client?.advance(to: now, report: { note($0, of: node, at: now, report) })
            {
                fail(node, error.message, at: now, report)
            }
            if case .connected = node.phase { reviewScanner(of: node, at: now, report) }
            write(node, at: now, report)
        }
    }

    private func begin(_ node: Node, at now: Timestamp, _ report: (RadioEvent) -> Void) {
        // What was announced may be old: then the system may know better.
        if let literal = HostResolver.literal(node.target.host, port: node.target.port) {
            connect(node, to: literal, at: now, report)
        } else if let known = browser.address(of: node.target.host), node.isFound || node.failures % 2 == 0 {
            connect(node, to: HostResolver.address(known, port: node.target.port), at: now, report)
        } else if node.isFound {
            // Its address comes with the next answer: what is announced by anybody is not looked up elsewhere.
            node.failures += 1
            node.phase = .waiting(until: now.advanced(by: 2 * Timestamp.nanosecondsPerSecond))
        } else {
            node.phase = .resolving(since: now)
            resolver.resolve(node.target.host, port: node.target.port)
        }
    }

    private func connect(
        _ node: Node, to address: HostResolver.Address, at now: Timestamp, _ report: (RadioEvent) -> Void
    ) {
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        node.socket = socket(address.family, kind, 0)
        guard node.socket >= 0 else {
            return fail(node, "there is no socket for it (\(String(cString: strerror(errno))))", at: now, report)
        }
        let result = address.bytes.withUnsafeBytes { bytes in
            bytes.baseAddress.map {
                Glibc.connect(node.socket, $0.assumingMemoryBound(to: sockaddr.self), socklen_t(bytes.count))
            } ?? -1
        }
        guard result == 0 || errno == EINPROGRESS else {
            return fail(node, "\(String(cString: strerror(errno))); check its address", at: now, report)
        }
        node.phase = .connecting(since: now)
    }

    private func finishConnecting(_ node: Node, at now: Timestamp, _ report: (RadioEvent) -> Void) {
        var error: Int32 = 0
        var count = socklen_t(MemoryLayout<Int32>.size)
        getsockopt(node.socket, SOL_SOCKET, SO_ERROR, &error, &count)
        guard error == 0 else {
            return fail(
                node,
                "nothing answers at port \(node.target.port) (\(String(cString: strerror(error)))); "
                    + "check its address, and that it has api: in its configuration", at: now, report)
        }
        do throws(ESPHomeError) {
            let key = source.key.flatMap(ESPHomeSource.bytes(of:))
            // Who had them before, and restarts with the device, should be there first.
            let notBefore = node.wasRefused ? now.advanced(by: ESPHomeClient.askAgain) : .zero
            node.client = try ESPHomeClient(
                key: key, mayTake: source.mayTake, isWanted: mode != .off, notBefore: notBefore, at: now)
            node.phase = .connected
            var one: Int32 = 1
            setsockopt(
                node.socket, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout.size(ofValue: one)))
            write(node, at: now, report)
        } catch {
            fail(node, error.message, at: now, report)
        }
    }

    private func read(
        _ node: Node, at now: Timestamp, _ deliver: (Reception, RawSpan) throws -> Void,
        _ report: (RadioEvent) -> Void
    ) throws {
        // Not without end, so that one that floods keeps no other from being read.
        for _ in 0..<16 {
            let count = recv(node.socket, &buffer, buffer.count, 0)
            if count < 0, errno == EAGAIN || errno == EINTR { return }
            guard count > 0 else { return fail(node, "it ended the connection", at: now, report) }
            guard var client = node.client else { return }
            // The only copy, which is changed in place.
            node.client = nil
            defer { if node.socket >= 0 { node.client = client } }
            var events: [ESPHomeClient.Event] = []
            let bytes = Array(buffer[..<count])
            let error = try client.receive(
                bytes.span.bytes, at: now,
                deliver: { address, rssi, advert in
                    guard let place = node.place else { return }
                    network.noteSign(of: place, at: now)
                    guard mode != .off else { return }
                    try network.receiveAdvert(of: place, at: now, address: address, rssi: rssi, advert: advert, deliver)
                }, report: { events.append($0) })
            for event in events where node.socket >= 0 { note(event, of: node, at: now, report) }
            guard node.socket >= 0 else { return }
            if let error {
                // The device asked for the end, and gets its answer.
                node.client = client
                write(node, at: now, report)
                guard node.socket >= 0 else { return }
                if error.code == .noProxy, node.isFound {
                    node.isOther = true
                    return rest(node, for: 3600, at: now)
                }
                return fail(node, error.message, error.code, at: now, report)
            }
            if count < buffer.count { return }
        }
    }

    private func write(_ node: Node, at now: Timestamp, _ report: (RadioEvent) -> Void) {
        guard case .connected = node.phase else { return }
        node.unsent += node.client?.takeOutput() ?? []
        while !node.unsent.isEmpty {
            let count = Glibc.send(node.socket, node.unsent, node.unsent.count, Int32(MSG_NOSIGNAL))
            if count < 0, errno == EINTR { continue }
            // A device that takes nothing more is dead before there is much.
            if count < 0, errno == EAGAIN, node.unsent.count < 1 << 16 { return }
            guard count > 0 else { return fail(node, "it ended the connection", at: now, report) }
            node.unsent.removeFirst(count)
        }
    }

    // MARK: - What devices say

    private func note(
        _ event: ESPHomeClient.Event, of node: Node, at now: Timestamp, _ report: (RadioEvent) -> Void
    ) {
        switch event {
        case .met(let device): meet(device, node, at: now, report)
        case .wouldTake:
            setState(.unauthorized, of: node, at: now, report)
            tell(
                node, .degraded,
                "its version of ESPHome gives adverts to whoever asked last, and tells nobody: a Home Assistant that uses it "
                    + "would hear no more. It is not asked. Where no other program needs its adverts, or it gets them from here (beacon "
                    + "proxy; proxy: in beacond's file), write ?take behind the source, or take: true in beacond's file", report)
        case .subscribed(let isScanning): noteScanner(isScanning, of: node, at: now, report)
        case .refused:
            node.wasRefused = true
            setState(.unauthorized, of: node, at: now, report)
            tell(
                node, .adapterLost,
                "it sends no adverts; another program, Home Assistant for instance, may have them, and it gives them to one alone. It "
                    + "is asked again each five minutes", report)
        case .lost:
            setState(.unauthorized, of: node, at: now, report)
            tell(
                node, .adapterLost,
                "another program took its adverts, and they are not taken back; end the use there, and start this again",
                report)
        case .alive:
            if let place = node.place, node.stoppedSince == nil { network.noteSign(of: place, at: now) }
        case .stalled(let since):
            if let place = node.place { network.reportDeafness(of: place, from: since, to: now, report) }
        }
    }

    /// Notes whether a device's scanner runs. It stops for moments between two scans, which is no news.
    private func noteScanner(_ isScanning: Bool, of node: Node, at now: Timestamp, _ report: (RadioEvent) -> Void) {
        node.failures = 0
        node.wasRefused = false
        guard isScanning else {
            node.stoppedSince = node.stoppedSince ?? now
            return
        }
        if let since = node.stoppedSince, let place = node.place {
            network.reportDeafness(of: place, from: since, to: now, report)
        }
        node.stoppedSince = nil
        let news = "connected, and hears"
        if node.told != [news] { node.told = [] }
        tell(node, .adapterUsed, news, report)
        setState(.poweredOn, of: node, at: now, report)
    }

    /// Notes that a scanner has not run for longer than between two scans.
    private func reviewScanner(of node: Node, at now: Timestamp, _ report: (RadioEvent) -> Void) {
        guard let since = node.stoppedSince, now.since(since) >= Self.restartTime else { return }
        setState(.resetting, of: node, at: now, report)
        tell(node, .degraded, "its scanner does not run; restart it, and look at its log", report)
        node.stoppedSince = now
    }

    private func meet(
        _ device: ESPHomeClient.Device, _ node: Node, at now: Timestamp, _ report: (RadioEvent) -> Void
    ) {
        let name = device.name.isEmpty ? node.target.host : device.name
        node.title = name.printable
        node.address = device.address
        node.hasMet = true
        // What it heard would come back to it, or comes by another way already.
        if node.isFound, device.project == ESPHomeDevice.networkProject {
            node.isOther = true
            tell(
                node, .adapterUsed,
                "it passes on what others hear, and is not used; where it is to be, name it, as in esphome:\(node.target.host.printable)",
                report)
            return rest(node, for: 3600, at: now)
        }
        // A device may be listed by its name and by its address.
        let others = nodes.filter { $0 !== node && $0.socket >= 0 && $0.place != nil }
        if others.contains(where: { !$0.address.isEmpty && $0.address == node.address }) {
            tell(
                node, .degraded, "it is there twice, as \(node.target.host.printable) too, which is left out", report)
            return rest(node, for: 60, at: now)
        }
        var place = network.meet(name, at: now)
        if let taken = place, others.contains(where: { $0.place == taken }) {
            // Another device of this name.
            place = network.meet("\(name) \(device.address)", at: now)
        }
        guard let place else {
            tell(node, .degraded, "there are 200 receivers already, or its name is longer than 64 bytes", report)
            return rest(node, for: 60, at: now)
        }
        node.place = place
        if network.receivers[place].isHearing { setState(.unknown, of: node, at: now, report) }
    }

    private func setState(_ state: RadioState, of node: Node, at now: Timestamp, _ report: (RadioEvent) -> Void) {
        if let place = node.place { network.setState(state, of: place, at: now, report: report) }
    }

    private func fail(
        _ node: Node, _ reason: String, _ code: ESPHomeError.Code? = nil, at now: Timestamp,
        _ report: (RadioEvent) -> Void
    ) {
        closeSocket(of: node)
        setState(.resetting, of: node, at: now, report)
        node.place = nil
        node.failures += 1
        let wait = Self.reconnection.wait(afterFailures: node.failures, asked: nil, using: &random)
        node.phase = .waiting(until: now.advanced(by: Int64(wait / .nanoseconds(1))))
        if node.isFound, !node.hasMet {
            // What was announced by anybody may be anything; but a device that wants a key, or is old, is one.
            guard let code, ![.damaged, .noProxy, .ended].contains(code), toldOfStrangers.count < Self.mostNodes,
                toldOfStrangers.insert("\(node.title) \(reason)").inserted
            else { return }
        }
        tell(node, .adapterLost, "\(reason). It is tried again", report)
    }

    /// Leaves a device alone for a while, in seconds.
    private func rest(_ node: Node, for seconds: Int64, at now: Timestamp) {
        closeSocket(of: node)
        node.phase = .waiting(until: now.advanced(by: seconds * Timestamp.nanosecondsPerSecond))
    }

    /// Reports something of a device, once, not with each attempt.
    private func tell(
        _ node: Node, _ kind: RadioNotice.Kind, _ message: String, _ report: (RadioEvent) -> Void
    ) {
        guard node.told.count < 16, node.told.insert(message).inserted else { return }
        notice(kind, node.title, message, report)
    }

    private func closeSocket(of node: Node) {
        if node.socket >= 0 { Glibc.close(node.socket) }
        node.socket = -1
        node.client = nil
        node.unsent = []
        node.stoppedSince = nil
    }

    private func notice(_ kind: RadioNotice.Kind, _ name: String, _ message: String, _ report: (RadioEvent) -> Void) {
        report(.notice(RadioNotice(kind, adapter: name, message)))
    }
}

extension RadioError {
    /// The error of proxies, which can only be heard.
    fileprivate static let proxyCannotSend = RadioError(
        .unsupported, "proxies of ESPHome hear and cannot send; use a radio of this machine to send")
}
