import BeaconModel
import BeaconRadio
import BeaconReceivers
import BeaconSupport
import CLibrary

/// The loop of the thread that serves the clients of the proxy, with one wait for all sockets.
struct ProxyLoop {
    /// The most clients of a device, and of the proxy.
    private static let maximumClients = 16
    private static let maximumOfAll = 256

    /// The time until it repeats a call that the system refused, in nanoseconds.
    private static let pause = 10 * Timestamp.nanosecondsPerSecond

    /// The longest wait, in nanoseconds.
    private static let longestWait = 60 * Timestamp.nanosecondsPerSecond

    private let settings: ProxySettings
    private let waker: Waker
    private let report: (ProxyNotice) -> Void
    private let subscribersChanged: (Int) -> Void

    private var devices: [Device] = []
    private var connections: [ProxyConnection] = []
    private var announcer: ServiceAnnouncer?
    private var reported: Set<String> = []
    private var subscribers = 0
    private var buffer = [UInt8](repeating: 0, count: 16 * 1024)
    /// The time until which no client is accepted, because the process has no descriptors left.
    private var isFullUntil = Timestamp.zero

    /// A device and its port.
    private struct Device {
        var stream: ProxyStream
        var listener: ProxyListener?
        /// The time of the next attempt to listen.
        var retryAt = Timestamp.zero
        /// The number of dropped messages that were reported, and the earliest time of the next report.
        var dropped = 0
        var reportsDroppedAt = Timestamp.zero
    }

    init(
        settings: ProxySettings, waker: Waker, report: @escaping (ProxyNotice) -> Void,
        subscribersChanged: @escaping (Int) -> Void
    ) {
        self.settings = settings
        self.waker = waker
        self.report = report
        self.subscribersChanged = subscribersChanged
        if settings.isAnnounced, settings.networkAddress != nil || settings.listensEverywhere {
            announcer = ServiceAnnouncer(for: settings.networkAddress, at: RadioClock.now())
        }
    }

    /// Serves clients until `shouldStop` returns true.
    ///
    /// - Parameters:
    ///   - streams: returns the current devices. Their number may grow.
    ///   - shouldStop: returns true to end the loop.
    mutating func run(streams: () -> [ProxyStream], shouldStop: () -> Bool) {
        while !shouldStop() {
            let now = RadioClock.now()
            addDevices(streams(), at: now)
            accept(at: now)
            serve(at: now)
            announcer?.process(at: now) { report(ProxyNotice(isTrouble: true, message: $0)) }
            wait()
        }
        for connection in connections { connection.leave() }
        announcer?.withdraw()
        connections = []
        for device in devices { device.listener?.close() }
    }

    /// Adds new devices, and listens at their ports.
    private mutating func addDevices(_ streams: [ProxyStream], at now: Timestamp) {
        for stream in streams.dropFirst(devices.count) {
            devices.append(Device(stream: stream))
        }
        for index in devices.indices where devices[index].listener == nil && now >= devices[index].retryAt {
            let stream = devices[index].stream
            do throws(ProxyError) {
                devices[index].listener = try ProxyListener(port: stream.port, address: settings.address)
                inform("\(stream.identity.name) is served at port \(stream.port); clients recognize it by this name.")
                announce()
            } catch {
                devices[index].retryAt = now.advanced(by: Self.pause)
                report("\(stream.identity.name): \(error.sentence) Trying again.", isTrouble: true)
            }
        }
    }

    private mutating func announce() {
        let services = devices.filter { $0.listener != nil }.map {
            ServiceAnnouncement.Service($0.stream.identity, port: $0.stream.port)
        }
        announcer?.set(services)
    }

    private mutating func accept(at now: Timestamp) {
        guard now >= isFullUntil else { return }
        for index in devices.indices {
            guard let listener = devices[index].listener else { continue }
            for _ in 0..<8 {
                errno = 0
                guard let client = listener.accept() else {
                    // No client is waiting, or it disconnected again. Any other error would repeat at once.
                    if ![EAGAIN, EINTR, ECONNABORTED].contains(errno) {
                        isFullUntil = now.advanced(by: Self.pause)
                        report("no client can connect: \(String(cString: strerror(errno)))", isTrouble: true)
                    }
                    break
                }
                admit(client, to: index, at: now)
            }
        }
    }

    private mutating func admit(_ client: (descriptor: Int32, address: String), to index: Int, at now: Timestamp) {
        let device = devices[index]
        if isFull(index) { makeRoom(at: index, for: client.address) }
        guard !isFull(index),
            let connected = try? ESPHomeDevice(device.stream.identity, scanner: device.stream.scanner, at: now)
        else {
            close(client.descriptor)
            return report(
                "\(device.stream.identity.name) has \(Self.maximumClients) clients already, or the proxy "
                    + "\(Self.maximumOfAll); rejected one from \(client.address)",
                isTrouble: true)
        }
        connections.append(ProxyConnection(client.descriptor, from: client.address, to: connected, stream: index))
    }

    private func isFull(_ index: Int) -> Bool {
        connections.count >= Self.maximumOfAll || connections.count { $0.stream == index } >= Self.maximumClients
    }

    /// Closes a connection of the address with the most connections, so that one address cannot keep out others. It
    /// prefers a connection without a hello, then one without a subscription. It closes any other only if the address
    /// has at least two connections more than the new client's.
    private mutating func makeRoom(at index: Int, for address: String) {
        let isFullOfAll = connections.count >= Self.maximumOfAll
        let others = connections.indices.filter { isFullOfAll || connections[$0].stream == index }
        let counts = Dictionary(grouping: others) { connections[$0].address }
        guard let most = counts.max(by: { ($0.value.count, $1.key) < ($1.value.count, $0.key) }) else { return }
        let own = counts[address] ?? []
        // If two addresses replaced each other, nothing would be gained.
        let isUnfair = most.value.count > own.count + 1
        let candidates = most.value.count > own.count ? most.value : own
        let victim =
            candidates.first { !connections[$0].hasExchangedHello }
            ?? candidates.first { !connections[$0].isSubscribed }
            ?? (isUnfair ? most.value.first : nil)
        if let victim { connections.remove(at: victim).close() }
    }

    private mutating func serve(at now: Timestamp) {
        var messages: [Int: [[UInt8]]] = [:]
        for index in devices.indices {
            let due = devices[index].stream.take(at: now)
            if !due.isEmpty { messages[index] = due }
        }
        for connection in connections {
            let device = devices[connection.stream]
            let wasSubscribed = connection.isSubscribed
            let wasBehind = connection.dropped > 0
            var error = connection.process(at: now, buffer: &buffer)
            error = error ?? connection.set(device.stream.scanner)
            error = error ?? connection.send(messages[connection.stream] ?? [], at: now)
            if connection.isSubscribed, !wasSubscribed {
                inform("\(connection.title) has the adverts of \(device.stream.identity.name).")
            }
            if connection.hasAskedForActiveScan {
                report(
                    "\(connection.title) asks \(device.stream.identity.name) for active scanning, but the proxy only "
                        + "listens: it sends no requests, so adverts lack what devices add to an answer, such as some "
                        + "names. Choose passive scanning there", isTrouble: false)
            }
            if connection.dropped > 0, !wasBehind {
                report("\(connection.title) reads adverts too slowly; its oldest ones are dropped", isTrouble: true)
            }
            guard let error else { continue }
            let name = device.stream.identity.name
            if error.code == .wrongKey {
                report(
                    "\(connection.title) has the wrong key for \(name); enter the proxy's key there",
                    isTrouble: true)
            } else if error.code == .plainDevice {
                report(
                    "\(connection.title) has no key, but \(name) requires one; enter the proxy's key there",
                    isTrouble: true)
            } else if wasSubscribed {
                let loss = connection.dropped > 0 ? "; \(connection.dropped) of its messages were dropped" : ""
                inform("\(connection.title) no longer has the adverts of \(name): \(error.message)\(loss).")
            }
            connection.close()
        }
        for index in devices.indices {
            let dropped = devices[index].stream.dropped
            guard dropped > devices[index].dropped, now >= devices[index].reportsDroppedAt else { continue }
            devices[index].reportsDroppedAt = now.advanced(by: Self.longestWait)
            report(
                ProxyNotice(
                    isTrouble: true,
                    message:
                        "\(dropped - devices[index].dropped) messages of \(devices[index].stream.identity.name) were "
                        + "dropped: this process got no CPU time for seconds."
                ))
            devices[index].dropped = dropped
        }
        connections.removeAll { $0.descriptor < 0 }
        let count = connections.count(where: \.isSubscribed)
        guard count != subscribers else { return }
        subscribers = count
        subscribersChanged(count)
    }

    private mutating func wait() {
        let now = RadioClock.now()
        var polls = [pollfd(fd: waker.descriptor, events: Int16(POLLIN), revents: 0)]
        var deadline = now.advanced(by: Self.longestWait)
        if now >= isFullUntil {
            polls += devices.compactMap { device in
                device.listener.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
            }
        } else {
            deadline = min(deadline, isFullUntil)
        }
        for device in devices {
            deadline = min(deadline, device.stream.deadline)
            if device.listener == nil { deadline = min(deadline, device.retryAt) }
        }
        for connection in connections {
            polls.append(pollfd(fd: connection.descriptor, events: Int16(connection.interest), revents: 0))
            deadline = min(deadline, connection.deadline)
        }
        if let announcer {
            polls += announcer.descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            deadline = min(deadline, announcer.deadline)
        }
        let milliseconds = max(0, deadline.since(now)) / 1_000_000
        poll(&polls, nfds_t(polls.count), Int32(clamping: deadline <= now ? 0 : milliseconds + 1))
        if polls[0].revents != 0 { waker.reset() }
    }

    private func inform(_ message: String) { report(ProxyNotice(isTrouble: false, message: message)) }

    /// Reports a problem once, not with each attempt.
    private mutating func report(_ message: String, isTrouble: Bool) {
        if reported.count >= 256 { reported = [] }
        guard reported.insert(message).inserted else { return }
        report(ProxyNotice(isTrouble: isTrouble, message: message.hasSuffix(".") ? message : message + "."))
    }
}
