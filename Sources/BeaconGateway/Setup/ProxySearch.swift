import BeaconModel
import BeaconMonitoring
import BeaconRadio
import BeaconReceivers
import BeaconSupport
import Foundation

/// A search for Bluetooth proxies of ESPHome that the user has named. It decides from events and times alone.
struct ProxySearch {
    /// The most devices to remember.
    private static let most = 200

    private var devices: [GuidedStart.Found.Device]
    private var names: [String] = []
    private var statuses: [ReceiverStatus] = []
    private var adverts = FoundAdverts()

    init(_ source: ESPHomeSource) {
        devices = source.nodes.map {
            .init(
                name: $0.host.printable, host: HostAndPort(host: $0.host, port: $0.port).description, address: nil,
                encrypted: source.key != nil)
        }
    }

    /// Notes an event of the source.
    mutating func receive(_ event: SourceEvent, at time: Timestamp) {
        switch event {
        case .heard(let batch):
            (names, statuses) = (batch.receiverNames, batch.receiverStatuses)
            for name in names { adverts.note(0, of: name, at: time) }
            for advert in batch.adverts where Int(advert.reception.receiver.index) < names.count {
                adverts.note(1, of: names[Int(advert.reception.receiver.index)], at: time)
            }
            for sighting in batch.sightings where Int(sighting.receiver.index) < names.count {
                adverts.note(sighting, of: names[Int(sighting.receiver.index)], at: time)
            }
        case .notice(let notice):
            let name = notice.adapter
            let problem = notice.kind == .adapterUsed ? nil : notice.message
            if let index = devices.firstIndex(where: { $0.name == name || $0.host.hasPrefix("\(name):") }) {
                devices[index].problem = problem
            } else if devices.count < Self.most {
                // A device's own name is known only once it has answered.
                devices.append(.init(name: name, host: name, address: nil, encrypted: false, problem: problem))
            }
        default: break
        }
    }

    /// Returns what was found so far.
    func found(at time: Timestamp) -> GuidedStart.Found {
        var found = GuidedStart.Found()
        found.state = .listening
        found.receivers = names.indices.map { place in
            let (rate, beacons) = adverts.values(of: names[place], at: time)
            return .init(
                key: names[place], name: names[place], kind: NetworkReceiver.Kind.esphome.rawValue, topic: nil,
                advertsPerMinute: rate, smoothed: false, beacons: beacons)
        }
        // A device that does not give its adverts is unauthorized.
        let shared = Set(zip(names, statuses).filter { $0.1.state == .unauthorized }.map(\.0))
        found.devices = devices.map { device in
            var device = device
            device.shared = shared.contains(device.name)
            return device
        }
        return found
    }
}

extension GuidedStart {
    /// How long to wait for a first announcement, in nanoseconds.
    private static let announcementTime = 6 * Timestamp.nanosecondsPerSecond

    static func search(
        _ source: ESPHomeSource, _ continuation: AsyncStream<Found>.Continuation,
        while goesOn: @escaping @Sendable () -> Bool
    ) async {
        if source.nodes.isEmpty {
            await searchAnnounced(continuation, while: goesOn)
        } else {
            await searchNamed(source, continuation, while: goesOn)
        }
    }

    /// Lists the devices that announce themselves, without a connection: taking the adverts of one could take them from
    /// Home Assistant.
    private static func searchAnnounced(
        _ continuation: AsyncStream<Found>.Continuation, while goesOn: () -> Bool
    ) async {
        let began = RadioClock.now()
        let search = AnnouncedProxies(at: began)
        while goesOn() {
            let now = RadioClock.now()
            var found = Found()
            found.state = .listening
            found.devices = search.devices(at: now).map {
                .init(name: $0.name, host: $0.host, address: $0.address, encrypted: $0.isEncrypted)
            }
            if found.devices.isEmpty, now.since(began) >= announcementTime {
                found.hints = [
                    .init(
                        kind: .none,
                        detail: "No proxy announces itself in this network. Other networks are not searched. Enter an "
                            + "address.")
                ]
            }
            continuation.yield(found)
            try? await Task.sleep(for: found.devices.isEmpty ? firstInterval : searchInterval)
        }
    }

    private static func searchNamed(
        _ source: ESPHomeSource, _ continuation: AsyncStream<Found>.Continuation,
        while goesOn: @escaping @Sendable () -> Bool
    ) async {
        let search = Locked(ProxySearch(source))
        // Every advert counts, not only those of beacons.
        let runner = SourceRunner(.network(source), pace: .fastest, mode: .discovery)
        runner.start()
        let reading = Task {
            for await event in runner.channel { search.withLock { $0.receive(event, at: RadioClock.now()) } }
        }
        defer {
            runner.stop()
            reading.cancel()
        }
        while goesOn() {
            continuation.yield(search.withLock { $0.found(at: RadioClock.now()) })
            try? await Task.sleep(for: searchInterval)
        }
    }
}
