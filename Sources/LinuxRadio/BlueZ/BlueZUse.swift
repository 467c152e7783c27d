import BeaconModel
import BeaconRadio

/// The use of one adapter of one bluetoothd, from when the adapter is there until it or the daemon is gone. Whatever was
/// registered with the daemon ends with it, and so does this.
final class BlueZUse {
    /// The adapter as bluetoothd shows it.
    private(set) var adapter: BlueZAdapter

    private let bus: SystemBus
    private let reports: BlueZReports
    private let wishes: BlueZWishes
    private let isTrusted: (BusMessage) -> Bool
    private let discovery: BlueZDiscovery
    private let monitors: BlueZMonitors
    private let adverts: BlueZAdverts
    private let devices: BlueZDevices
    private var isSearchWished = false
    private var power = Undertaking<Bool>()
    private var powerCall: BusSlot?
    private var changes: BusSlot?
    private var watchdog: BlueZWatchdog

    /// When the adapter was last seen going off.
    private(set) var wentOff = Timestamp.zero

    init(
        on bus: SystemBus, _ adapter: BlueZAdapter, _ reports: BlueZReports, _ wishes: BlueZWishes,
        isTrusted: @escaping (BusMessage) -> Bool
    ) throws(BusError) {
        self.bus = bus
        self.adapter = adapter
        self.reports = reports
        self.wishes = wishes
        self.isTrusted = isTrusted
        reports.adapter = adapter.name
        let devices = BlueZDevices(on: bus, adapter.path, reports, isTrusted: isTrusted)
        self.devices = devices
        discovery = BlueZDiscovery(on: bus, adapter.path, reports)
        monitors = BlueZMonitors(on: bus, adapter.path, reports, isTrusted: isTrusted) { devices.found($0) }
        adverts = BlueZAdverts(on: bus, adapter.path, reports)
        watchdog = BlueZWatchdog(adapter: adapter.name) { name in
            UInt16(name.dropFirst(3)).flatMap { try? LocalAdapter(index: $0).eventCount }
        }
        changes = try bus.listen(
            "type='signal',sender='\(BlueZ.service)',interface='\(BlueZ.properties)',member='PropertiesChanged',"
                + "path='\(adapter.path)'"
        ) { [weak self] in self?.changed($0) }
        let daemon = adapter.version.map { "bluetoothd \($0)" } ?? "bluetoothd"
        reports.tell(.adapterUsed, "\(adapter.address) is used by way of \(daemon).")
        apply()
    }

    /// Whether the adapter works.
    var state: RadioState { adapter.isPowered ? .poweredOn : .poweredOff }

    /// When ``advance()`` should be called at the latest.
    var deadline: Timestamp {
        min(
            min(discovery.deadline, monitors.deadline), min(adverts.deadline, power.deadline),
            isSearchWished != discovery.isWanted && monitors.isSettled
                ? .zero : isListening ? watchdog.deadline : .latest)
    }

    /// Whether bluetoothd does nothing for us and nothing is under way.
    var isIdle: Bool { discovery.isIdle && monitors.isIdle && adverts.isIdle }

    /// Lets bluetoothd do what is wished.
    func apply() {
        let canWork = adapter.isPowered
        power.wanted = !canWork && wishes.mayPowerOn ? true : nil
        var goal: BlueZMonitors.Goal?
        var isSearching = false
        var attention = BlueZDevices.Attention.none
        switch wishes.mode {
        case .off: break
        case .watching(let uuids) where uuids.isEmpty: break
        case .watching(let uuids) where adapter.monitoring != .none:
            goal = .uuids(uuids)
            attention = .found
            // A controller with filters of its own tells a beacon once, and nobody could try here how it tells that the
            // beacon is gone. A search gives the evidence that presence needs.
            if adapter.monitoring == .controller {
                isSearching = true
                attention = .all
            }
        case .watching, .ranging:
            goal = adapter.monitoring == .none ? nil : .anyBeacon
            isSearching = true
            attention = .all
        }
        devices.attention = attention
        isSearchWished = canWork && isSearching
        monitors.goal = canWork ? goal : nil
        adverts.keepsInterval = adapter.monitoring != .none
        adverts.frames = canWork ? wishes.frames : []
    }

    /// Does what is due.
    func advance() {
        switchOn()
        monitors.advance()
        // The kernel decides about the controller's duplicate filter when a search begins, by whether there are monitors
        // (net/bluetooth/hci_sync.c, hci_active_scan_sync). So the monitors come first.
        discovery.isWanted = isSearchWished && (discovery.isActive || monitors.isSettled)
        discovery.advance()
        adverts.advance()
        devices.sweep()
        explain()
        guard isSearchWished || monitors.goal != nil else { return watchdog.begin(at: reports.now) }
        guard isListening else { return watchdog.pause(at: reports.now) }
        let isSearching = discovery.isActive
        switch watchdog.check(at: reports.now, told: devices.told, isSearching: isSearching, reports) {
        case .alive: break
        case .silent(let seconds):
            reports.tell(
                .scanRestarted,
                "nothing was heard for \(seconds) s: the scan is begun anew. In an empty room that is no fault.")
            discovery.renew()
            monitors.renew()
        }
    }

    /// Takes over interfaces that the adapter has got, `a{sa{sv}}`.
    func add(interfacesIn message: BusMessage) throws(BusError) {
        let before = adapter.monitoring
        _ = try adapter.add(interfacesIn: message)
        apply()
        // A search that began without monitors has the duplicate filter on.
        if adapter.monitoring != before { discovery.renew() }
    }

    private var isListening: Bool { discovery.isActive || monitors.current != nil }

    private func switchOn() {
        guard case .begin = power.next(at: reports.now) else { return }
        do throws(BusError) {
            powerCall = try bus.call(BlueZ.service, adapter.path, BlueZ.properties, "Set") { message throws(BusError) in
                try message.append(BlueZ.adapter)
                try message.append("Powered")
                try message.appendVariant("b") { () throws(BusError) in try message.append(true) }
            } answer: { [weak self] answer in
                guard let self else { return }
                switch answer {
                case .success:
                    reports.tell(.adapterUsed, "it was switched off and is switched on now.")
                    power.ended()
                    power.wanted = nil
                case .failure(let error):
                    power.failed(at: reports.now)
                    reports.refused("to switch on", error)
                }
            }
        } catch {
            power.failed(at: reports.now)
        }
    }

    private func changed(_ signal: BusMessage) {
        guard isTrusted(signal) else { return }
        try? read(change: signal)
    }

    private func read(change signal: BusMessage) throws(BusError) {
        guard try signal.readString() == BlueZ.adapter else { return }
        let before = adapter
        try adapter.update(from: signal)
        if before.isPowered, !adapter.isPowered {
            wentOff = reports.now
            wishes.mayPowerOn = false
            reports.tell(.adapterLost, "it was switched off. It is used again when somebody switches it on.")
        } else if !before.isPowered, adapter.isPowered {
            wishes.mayPowerOn = true
            reports.forget(.commandFailed)
        }
        // The search ends by itself where the adapter goes off and where the controller fails. Between its rounds of about
        // ten seconds Discovering stays as it is.
        if before.isDiscovering, !adapter.isDiscovering { discovery.wasEnded() }
        apply()
    }

    /// Says what is active and why, once it is.
    private func explain() {
        switch wishes.mode {
        case .off: break
        case .watching, .ranging:
            if adapter.monitoring == .none, discovery.isActive {
                reports.tellOnce(
                    .degraded,
                    "ranging is not available: this bluetoothd offers no advertisement monitors, and without one the "
                        + "controller tells each beacon about once in ten seconds, which is enough for presence. "
                        + BlueZ.experimentalRemedy)
            } else if case .watching(let uuids) = wishes.mode, monitors.current == .uuids(uuids) {
                reports.tellOnce(
                    .filtering,
                    adapter.monitoring == .controller
                        ? "this controller has filters of its own, which tell a beacon once; a search is held as well, so "
                            + "that presence has its evidence, and other adverts wake this process."
                        : "bluetoothd compares adverts with \(uuids.count) UUIDs, and only those wake this process. "
                            + "Signal strengths come in steps of 8 dB.")
            } else if wishes.mode == .ranging, discovery.isActive, monitors.current != nil {
                reports.tellOnce(
                    .filtering,
                    "nothing is filtered: a search tells every advert, and a monitor keeps duplicates coming.")
            }
        }
    }
}
