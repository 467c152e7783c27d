import BeaconModel
import BeaconRadio

/// A session of one adapter of one bluetoothd, from the adapter's appearance until it or the daemon is lost. All
/// registrations with the daemon end with the session.
final class BlueZAdapterSession {
    /// The adapter as bluetoothd shows it.
    private(set) var adapter: BlueZAdapter

    private let bus: SystemBus
    private let queue: BlueZEventQueue
    private let desired: DesiredState
    private let isTrusted: (BusMessage) -> Bool
    private let discovery: BlueZDiscovery
    private let monitors: BlueZMonitors
    private let adverts: BlueZAdverts
    private let devices: BlueZDevices
    private var isSearchRequested = false
    private var power = RetryingOperation<Bool>()
    private var powerCall: BusSlot?
    private var changes: BusSlot?
    private var watchdog: BlueZWatchdog

    /// The last time that the adapter was switched off.
    private(set) var wentOff = Timestamp.zero

    init(
        on bus: SystemBus, _ adapter: BlueZAdapter, _ queue: BlueZEventQueue, _ desired: DesiredState,
        isTrusted: @escaping (BusMessage) -> Bool
    ) throws(BusError) {
        self.bus = bus
        self.adapter = adapter
        self.queue = queue
        self.desired = desired
        self.isTrusted = isTrusted
        queue.adapter = adapter.name
        let devices = BlueZDevices(on: bus, adapter.path, queue, isTrusted: isTrusted)
        self.devices = devices
        discovery = BlueZDiscovery(on: bus, adapter.path, queue)
        monitors = BlueZMonitors(on: bus, adapter.path, queue, isTrusted: isTrusted) { devices.found($0) }
        adverts = BlueZAdverts(on: bus, adapter.path, queue)
        watchdog = BlueZWatchdog(adapter: adapter.name) { name in
            UInt16(name.dropFirst(3)).flatMap { try? LocalAdapter(index: $0).eventCount }
        }
        changes = try bus.listen(
            "type='signal',sender='\(BlueZ.service)',interface='\(BlueZ.properties)',member='PropertiesChanged',"
                + "path='\(adapter.path)'"
        ) { [weak self] in self?.changed($0) }
        let daemon = adapter.version.map { "bluetoothd \($0)" } ?? "bluetoothd"
        queue.report(.adapterUsed, "the adapter \(adapter.address) is used by way of \(daemon).")
        apply()
    }

    /// True if the adapter works.
    var state: RadioState { adapter.isPowered ? .poweredOn : .poweredOff }

    /// The latest time for the next call of ``advance()``.
    var deadline: Timestamp {
        min(
            min(discovery.deadline, monitors.deadline), min(adverts.deadline, power.deadline),
            isSearchRequested != discovery.isWanted && monitors.isSettled
                ? .zero : isListening ? watchdog.deadline : .latest)
    }

    /// True if bluetoothd does nothing for us and no operation is pending.
    var isIdle: Bool { discovery.isIdle && monitors.isIdle && adverts.isIdle }

    /// Brings bluetoothd's operations to the desired state.
    func apply() {
        let canWork = adapter.isPowered
        power.wanted = !canWork && desired.mayPowerOn ? true : nil
        var goal: BlueZMonitors.Goal?
        var isSearching = false
        var attention = BlueZDevices.Attention.none
        switch desired.mode {
        case .off: break
        case .monitoring(let uuids) where uuids.isEmpty: break
        case .monitoring(let uuids) where adapter.monitoring != .none:
            goal = .uuids(uuids)
            attention = .found
            // A controller that filters by itself reports a beacon once, and its reports of lost beacons were never
            // tested. A search gives the evidence that presence needs.
            if adapter.monitoring == .controller {
                isSearching = true
                attention = .all
            }
        case .monitoring, .ranging, .discovery:
            // A monitor makes the kernel pass every advert of any device.
            goal = adapter.monitoring == .none ? nil : .anyBeacon
            isSearching = true
            attention = .all
        }
        devices.attention = attention
        devices.interest =
            desired.mode == .discovery ? .everything : desired.hasTags && attention == .all ? .addresses : .beacons
        isSearchRequested = canWork && isSearching
        monitors.goal = canWork ? goal : nil
        adverts.keepsInterval = adapter.monitoring != .none
        let wanted = canWork ? desired.adverts : []
        guard wanted != adverts.wanted else { return }
        adverts.wanted = wanted
        // The controller answers the kernel's commands for the adverts, so the number of its events changes.
        watchdog.forgetActivity()
    }

    /// Performs the operations that are due.
    func advance() {
        switchOn()
        monitors.advance()
        // When a search begins, the kernel sets the controller's duplicate filter depending on whether there are
        // monitors (net/bluetooth/hci_sync.c, hci_active_scan_sync). So the monitors come first.
        discovery.isWanted = isSearchRequested && (discovery.isActive || monitors.isSettled)
        discovery.advance()
        adverts.advance()
        devices.sweep()
        explain()
        guard isSearchRequested || monitors.goal != nil else { return watchdog.begin(at: queue.now) }
        guard isListening else { return watchdog.pause(at: queue.now) }
        let isSearching = discovery.isActive
        switch watchdog.check(at: queue.now, lastReport: devices.lastReport, isSearching: isSearching, queue) {
        case .alive: break
        case .doubtful: monitors.renew()
        case .revived(let silence): queue.report(.scanRestarted, RadioNotice.revival(after: silence))
        case .silent(let seconds):
            queue.report(
                .scanRestarted,
                "no advert was heard for \(seconds) s; the scan is restarted, in case it died. This is normal "
                    + "in a place without Bluetooth devices.")
            discovery.renew()
            monitors.renew()
        }
    }

    /// Reports the outcome for each frame again, since the client repeated its request.
    func reportAdvertising() { adverts.reportAgain() }

    /// Restarts the watchdog's silence, since the machine slept. bluetoothd and the kernel pause and resume the search
    /// by themselves.
    func wokeUp() { watchdog.begin(at: queue.now) }

    /// Reads interfaces that bluetoothd added to the adapter, `a{sa{sv}}`.
    func add(interfacesIn message: BusMessage) throws(BusError) {
        let before = adapter.monitoring
        _ = try adapter.add(interfacesIn: message)
        apply()
        // A search that began without monitors runs with the duplicate filter.
        if adapter.monitoring != before { discovery.renew() }
    }

    private var isListening: Bool { discovery.isActive || monitors.current != nil }

    private func switchOn() {
        guard case .begin = power.next(at: queue.now) else { return }
        do throws(BusError) {
            powerCall = try bus.call(BlueZ.service, adapter.path, BlueZ.properties, "Set") { message throws(BusError) in
                try message.append(BlueZ.adapter)
                try message.append("Powered")
                try message.appendVariant("b") { () throws(BusError) in try message.append(true) }
            } answer: { [weak self] answer in
                guard let self else { return }
                switch answer {
                case .success:
                    queue.report(.adapterUsed, "the adapter was off and is switched on now.")
                    power.ended()
                    power.wanted = nil
                case .failure(let error):
                    power.failed(at: queue.now)
                    queue.refused("to switch on", error)
                }
            }
        } catch {
            power.failed(at: queue.now)
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
            wentOff = queue.now
            desired.mayPowerOn = false
            queue.report(.adapterLost, "other software switched the adapter off. Switch it on: bluetoothctl power on")
        } else if !before.isPowered, adapter.isPowered {
            desired.mayPowerOn = true
            queue.forget(.commandFailed)
        }
        // The search ends by itself if the adapter is switched off or the controller fails. Discovering does not change
        // between the rounds of about ten seconds.
        if before.isDiscovering, !adapter.isDiscovering { discovery.wasEnded() }
        apply()
    }

    /// Reports once which mechanisms are active, and why.
    private func explain() {
        switch desired.mode {
        case .off, .discovery: break
        case .monitoring, .ranging:
            if desired.hasTags, devices.attention == .found {
                queue.reportOnce(
                    .tagsUnheard,
                    "phones and watches with a key are not heard: bluetoothd's advertisement monitors find iBeacons only, "
                        + "and no region or place is about a phone, so no search runs. Name the phone in a region, or "
                        + "use the source hci.")
            }
            if adapter.monitoring == .none, discovery.isActive {
                queue.reportOnce(
                    .degraded,
                    "ranging is not available: this bluetoothd offers no advertisement monitors, and without one the "
                        + "controller reports each beacon about once in ten seconds, which is enough for presence. "
                        + BlueZ.experimentalRemedy)
            } else if case .monitoring(let uuids) = desired.mode, monitors.current == .uuids(uuids) {
                queue.reportOnce(
                    .filtering,
                    adapter.monitoring == .controller
                        ? "this controller filters by itself and reports a beacon once; a search runs too, so "
                            + "that presence has its evidence, and other adverts wake this process."
                        : "bluetoothd compares adverts with \(uuids.count) UUIDs, and only those wake this process. "
                            + "Signal strengths come in steps of 8 dB.")
            } else if desired.mode == .ranging, discovery.isActive, monitors.current != nil {
                queue.reportOnce(
                    .filtering,
                    "nothing is filtered: a search reports every advert, and a monitor keeps duplicates coming.")
            }
        }
    }
}
