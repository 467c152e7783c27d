import BeaconModel
import BeaconReceivers
package import BeaconSupport
import CLibrary
import Dispatch
import Foundation
import Synchronization

/// A server that offers this machine as Bluetooth proxies of ESPHome to Home Assistant and other clients: one device
/// for all receivers, or one for each.
///
/// A separate thread does all network I/O, so that no client delays the receivers. Any number of clients can have the
/// adverts at once. A client that reads too slowly loses the oldest ones.
package final class ProxyServer: Sendable {
    /// The most devices for receivers that the user did not name, if each receiver is a device. Any client of a broker
    /// can make up receivers.
    static let maximumDevices = 64

    /// A receiver of a source, and its device.
    private struct Receiver {
        /// The number of its source, and its name there.
        var source: Int
        var name: String
        /// Its name for people. Receivers with the same name count as one.
        var title: String
        var stream: Int
        var scanner = ESPHomeDevice.Scanner.starting
    }

    private struct Table {
        var streams: [ProxyStream] = []
        /// The indices of streams by their receivers' names for people, if each receiver is a device.
        var places: [String: Int] = [:]
        /// The receivers by their numbers; nil for a free number.
        var receivers: [Receiver?] = []
        /// The names for people of receivers that always get a device.
        var reserved: Set<String> = []
        var sources = 0
        var hasReported = false
    }

    /// A receiver's place in the proxy.
    struct Place {
        /// Its number.
        var number: Int
        /// The lowest number of the receivers that share its name for people.
        var choice: Int
        var stream: ProxyStream
    }

    private let settings: ProxySettings
    private let report: @Sendable (ProxyNotice) -> Void
    private let table: Locked<Table>
    private let ports: ProxyPorts
    private let subscribers = Atomic<Int>(0)
    private let isStopped = Atomic<Bool>(false)
    private let waker = Waker()
    private let isStarted = Atomic<Bool>(false)
    private let end = AsyncSignal()

    /// The signal that ``isWanted`` has changed.
    package let wantedSignal = AsyncSignal()

    /// Creates a proxy that listens once it is started.
    ///
    /// - Parameters:
    ///   - settings: name, port and key.
    ///   - report: called with notices for the operator, from any thread.
    /// - Throws: ``ProxyError`` if the settings contain a mistake.
    package init(
        _ settings: ProxySettings, report: @escaping @Sendable (ProxyNotice) -> Void
    ) throws(ProxyError) {
        let mistakes = settings.mistakes()
        guard mistakes.isEmpty else { throw ProxyError(.invalidSettings, mistakes.joined(separator: "; ")) }
        self.settings = settings
        self.report = report
        if settings.key != nil {
            do throws(ESPHomeError) {
                _ = try ESPHomeDevice(settings.identity(of: nil), scanner: .starting, at: .zero)
            } catch {
                throw ProxyError(.noEncryption, error.message)
            }
        }
        ports = ProxyPorts(path: settings.isEach ? settings.portsPath : nil, first: settings.port, report: report)
        var table = Table()
        if !settings.isEach { table.streams.append(ProxyStream(settings.identity(of: nil), port: settings.port)) }
        self.table = Locked(table)
        reserve([])
    }

    /// Sets the names for people of the receivers that always get a device, whatever other names messages contain.
    package func reserve(_ names: Set<String>) {
        table.withLock { table in
            table.reserved = names
            // Clients that know these devices reconnect before the receivers reappear.
            for name in ports.known.sorted(by: { $0.value < $1.value }).map(\.key) {
                _ = stream(titled: name, true, &table)
            }
        }
        waker.wake()
    }

    /// Starts to listen. The server reports a port that it cannot use, and tries again. Further calls do nothing.
    package func start() {
        guard !isStarted.exchange(true, ordering: .acquiringAndReleasing) else { return }
        let thread = Thread { [self] in
            var loop = ProxyLoop(
                settings: settings, waker: waker, report: report,
                subscribersChanged: { [self] in noteSubscribers($0) })
            loop.run(
                streams: { [self] in table.withLock { $0.streams } },
                shouldStop: { [self] in
                    isStopped.load(ordering: .acquiring)
                })
            noteSubscribers(0)
            ports.flush()
            end.signal()
        }
        thread.name = "beacon proxy"
        thread.start()
    }

    /// Disconnects from the clients, and returns when that is done.
    package func stop() async {
        isStopped.store(true, ordering: .releasing)
        waker.wake()
        guard isStarted.load(ordering: .acquiring) else { return }
        await end.wait(after: 0)
    }

    /// True while a client subscribes to adverts.
    package var isWanted: Bool { subscribers.load(ordering: .relaxed) > 0 }

    /// Returns a feed for the adverts of one source.
    ///
    /// - Parameters:
    ///   - isLive: true for a radio; false for recordings and simulations, whose adverts wait for their time.
    ///   - isOpen: true if the source may contain any number of receivers that the user did not choose.
    ///   - title: returns the name for people of a receiver of the source.
    package func feed(
        isLive: Bool, isOpen: Bool = true, title: @escaping @Sendable (String) -> String = { $0 }
    ) -> ProxyFeed {
        let source = table.withLock { table in
            table.sources += 1
            return table.sources
        }
        return ProxyFeed(
            self, source: source, isEach: settings.isEach, isLive: isLive, isOpen: isOpen, title: title)
    }

    /// Wakes the network thread to check for due work.
    func wake() { waker.wake() }

    /// Returns the place of a receiver, and adds new receivers; nil if there are too many.
    ///
    /// - Parameters:
    ///   - name: its name in its source.
    ///   - source: the number of the source.
    ///   - title: its name for people.
    ///   - isOpen: true if the source may contain any number of receivers that the user did not choose.
    func place(of name: String, in source: Int, titled title: String, isOpen: Bool = true) -> Place? {
        var notice: ProxyNotice?
        let place: Place? = table.withLock { table in
            var number = table.receivers.firstIndex { $0?.source == source && $0?.name == name }
            if number == nil {
                guard let stream = stream(titled: title, isOpen, &table) else {
                    if !table.hasReported { notice = tooMany(title) }
                    table.hasReported = true
                    return nil
                }
                number = table.receivers.firstIndex { $0 == nil } ?? table.receivers.count
                if number == table.receivers.count { table.receivers.append(nil) }
                table.receivers[number ?? 0] = Receiver(source: source, name: name, title: title, stream: stream)
            }
            guard let number, let stream = table.receivers[number]?.stream else { return nil }
            let choice = table.receivers.firstIndex { $0?.title == title } ?? number
            return Place(number: number, choice: choice, stream: table.streams[stream])
        }
        if let notice { report(notice) }
        waker.wake()
        return place
    }

    /// Returns the index of a receiver's stream, and adds a stream if each receiver is a device.
    private func stream(titled title: String, _ isOpen: Bool, _ table: inout Table) -> Int? {
        guard settings.isEach else { return 0 }
        if let place = table.places[title] { return place }
        let reserved = table.reserved
        let isNamed = !isOpen || reserved.contains(title)
        guard isNamed || table.places.keys.count(where: { !reserved.contains($0) }) < Self.maximumDevices,
            let port = ports.port(of: title)
        else { return nil }
        table.streams.append(ProxyStream(Self.identity(of: title, settings, table.streams), port: port))
        table.places[title] = table.streams.count - 1
        return table.streams.count - 1
    }

    private func tooMany(_ title: String) -> ProxyNotice {
        let file = settings.portsPath.map { " Delete \($0) to forget removed receivers." } ?? ""
        return ProxyNotice(
            isTrouble: true,
            message:
                "There are devices for \(Self.maximumDevices) unnamed receivers already, or no port is free: the proxy "
                + "does not offer \(title.printable) and further receivers that the configuration does not name. "
                + "Use one device for all receivers, or run a second proxy.\(file)")
    }

    /// Forgets the receivers that a source no longer names. Their devices stay, since clients know them.
    func keep(_ names: some Collection<String>, of source: Int) {
        let kept = Set(names)
        table.withLock { table in
            for case (let number, let receiver?) in table.receivers.enumerated()
            where receiver.source == source && !kept.contains(receiver.name) {
                table.receivers[number] = nil
                updateScanner(of: receiver.stream, &table)
            }
        }
        waker.wake()
    }

    /// The number of receivers.
    var receiverCount: Int { table.withLock { $0.receivers.count { $0 != nil } } }

    /// Sets the state of a receiver's scanner.
    func set(_ scanner: ESPHomeDevice.Scanner, of number: Int) {
        table.withLock { table in
            table.receivers[number]?.scanner = scanner
            if let stream = table.receivers[number]?.stream { updateScanner(of: stream, &table) }
        }
        waker.wake()
    }

    private func updateScanner(of stream: Int, _ table: inout Table) {
        let all = table.receivers.filter { $0?.stream == stream }.compactMap(\.?.scanner)
        // One running scanner is enough.
        table.streams[stream].scanner =
            all.contains(.running) ? .running : all.contains(.starting) ? .starting : .failed
    }

    private func noteSubscribers(_ count: Int) {
        let before = subscribers.exchange(count, ordering: .relaxed)
        if (before > 0) != (count > 0) { wantedSignal.signal() }
    }

    /// Returns the identity of a receiver's device, with a unique name.
    private static func identity(
        of name: String, _ settings: ProxySettings, _ others: [ProxyStream]
    ) -> ESPHomeDevice.Identity {
        var identity = settings.identity(of: name)
        if identity.name.hasSuffix("-") || others.contains(where: { $0.identity.name == identity.name }) {
            identity.name += (identity.name.hasSuffix("-") ? "" : "-") + identity.addressDigits.suffix(4)
        }
        return identity
    }
}

/// The ports of receivers. They are saved, since clients recognize a device by its port until they are reconfigured.
final class ProxyPorts: Sendable {
    private struct Content: Codable {
        var version = 1
        /// The first port at the time of saving. If it changes, all ports are assigned again.
        var first: UInt16
        var ports: [String: UInt16] = [:]
    }

    private static let largestFile = 1 << 16

    private let path: String?
    private let first: UInt16
    private let report: @Sendable (ProxyNotice) -> Void
    private let content: Locked<Content>
    /// Keeps a slow disk from delaying the receivers.
    private let queue = DispatchQueue(label: "swift-beacon.proxy")

    /// Reads the saved ports. A damaged file is moved aside.
    init(path: String?, first: UInt16, report: @escaping @Sendable (ProxyNotice) -> Void) {
        self.path = path
        self.first = first
        self.report = report
        var content = Content(first: first)
        if let path, access(path, F_OK) == 0 {
            do throws(StateError) {
                let bytes = try SmallFile.contents(path: path, limit: Self.largestFile)
                if let saved = try? JSONDecoder().decode(Content.self, from: Data(bytes)), saved.version == 1,
                    Set(saved.ports.values).count == saved.ports.count, !saved.ports.values.contains(0)
                {
                    if saved.first == first { content = saved }
                } else {
                    try AtomicFile.rename(path, to: path + ".damaged")
                    report(
                        ProxyNotice(
                            isTrouble: true,
                            message:
                                "\(path) is damaged; it was moved to \(path).damaged, and receivers may get other ports."
                        ))
                }
            } catch {
                report(ProxyNotice(isTrouble: true, message: "\(error). Receivers may get other ports."))
            }
        }
        self.content = Locked(content)
    }

    /// The receivers and ports that are known.
    var known: [String: UInt16] { content.withLock { $0.ports } }

    /// Returns a receiver's port, or assigns the next free port; nil if no port is free.
    func port(of name: String) -> UInt16? {
        let (port, isNew) = content.withLock { content -> (UInt16?, Bool) in
            if let port = content.ports[name] { return (port, false) }
            let taken = Set(content.ports.values)
            guard let port = (first...UInt16.max).first(where: { !taken.contains($0) }) else { return (nil, false) }
            content.ports[name] = port
            return (port, true)
        }
        if isNew, let path { queue.async { self.save(path, because: name) } }
        return port
    }

    /// Returns once the ports are on the disk, or cannot be written.
    func flush() { queue.sync {} }

    /// Writes the current ports.
    private func save(_ path: String, because name: String) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        guard let bytes = try? encoder.encode(content.withLock { $0 }) else { return }
        do throws(StateError) {
            if let slash = path.lastIndex(of: "/"), slash > path.startIndex {
                try AtomicFile.makeFolder(String(path[..<slash]))
            }
            try AtomicFile.replace(path, with: bytes)
        } catch {
            report(
                ProxyNotice(isTrouble: true, message: "\(error). \(name.printable) may get another port next time."))
        }
    }
}
