import BeaconModel
import BeaconRadio

/// Advertisement monitors: patterns that bluetoothd compares adverts with for us.
final class BlueZMonitors {
    /// The beacons to look for.
    enum Goal: Equatable {
        /// Any beacon. bluetoothd does not report matches; monitors serve only to have the controller's duplicate
        /// filter switched off.
        case anyBeacon
        /// Beacons of these UUIDs; every advert is reported.
        case uuids(Set<ProximityUUID>)
    }

    /// The most patterns in one monitor: as many as the kernel accepts (MGMT's Add Advertisement Patterns Monitor;
    /// `max_num_patterns` is 16).
    static let patternLimit = 16

    /// The most monitors at once. The kernel has 32 in total, for all processes.
    static let monitorLimit = 8

    private let bus: SystemBus
    private let path: String
    private let root: String
    private let queue: BlueZEventQueue
    private let isTrusted: (BusMessage) -> Bool
    private let found: (String) -> Void
    private var operation = RetryingOperation<Goal>()
    private var call: BusSlot?
    private var manager: BusObject?
    private var monitors: [BusObject] = []
    private var activations = 0
    private var hasFailed = false
    private var settling = Timestamp.zero

    /// The time within which bluetoothd reports that the controller has the patterns. It usually takes milliseconds.
    private static let settlingTime = 5 * Timestamp.nanosecondsPerSecond

    /// Creates the monitors of the adapter at `path`.
    ///
    /// - Parameter found: called with each device of which a monitor found an advert.
    init(
        on bus: SystemBus, _ path: String, _ queue: BlueZEventQueue, isTrusted: @escaping (BusMessage) -> Bool,
        found: @escaping (String) -> Void
    ) {
        self.bus = bus
        self.path = path
        self.queue = queue
        self.isTrusted = isTrusted
        self.found = found
        root = "/swift_beacon/\(queue.adapter)/monitors"
    }

    /// The beacons to look for; nil for none.
    var goal: Goal? {
        get { operation.wanted }
        set { operation.wanted = newValue }
    }

    /// The beacons that bluetoothd currently looks for.
    var current: Goal? { operation.current }

    /// True if the controller has the current patterns, or will not get them for now.
    var isSettled: Bool {
        if hasFailed, operation.wanted != nil { return true }
        guard operation.isSettled else { return false }
        return activations >= monitors.count || queue.now >= settling
    }

    /// The latest time for the next call of ``advance()``.
    var deadline: Timestamp {
        isSettled || operation.current == nil ? operation.deadline : min(operation.deadline, settling)
    }

    /// True if bluetoothd does nothing for us and no operation is pending.
    var isIdle: Bool { operation.isIdle }

    /// Performs the operations that are due.
    func advance() {
        do throws(BusError) {
            switch operation.next(at: queue.now) {
            case .begin(let goal): try begin(goal)
            case .end: try end()
            case nil: break
            }
        } catch {
            refused(error)
        }
    }

    /// Unregisters the monitors and registers them again.
    func renew() { operation.renew() }

    private func begin(_ goal: Goal) throws(BusError) {
        activations = 0
        monitors = try Self.patterns(for: goal).enumerated().map { index, patterns throws(BusError) in
            try BusObject(on: bus, at: "\(root)/\(index)", [interface(patterns, goal)])
        }
        manager = try BusObject(on: bus, at: root, []) { [weak self] in self?.monitors ?? [] }
        call = try bus.call(BlueZ.service, path, BlueZ.monitorManager, "RegisterMonitor") { message throws(BusError) in
            try message.append(path: root)
        } answer: { [weak self] in
            guard let self else { return }
            switch $0 {
            case .success:
                hasFailed = false
                settling = queue.now.advanced(by: Self.settlingTime)
                operation.began(goal, at: queue.now)
                queue.forget(.commandFailed)
            case .failure(let error): refused(error)
            }
        }
    }

    private func end() throws(BusError) {
        call = try bus.call(BlueZ.service, path, BlueZ.monitorManager, "UnregisterMonitor") {
            message throws(BusError) in
            try message.append(path: root)
        } answer: { [weak self] _ in
            // If bluetoothd does not know them, they have ended, too.
            self?.withdraw()
            self?.operation.ended()
        }
    }

    private func refused(_ error: BusError) {
        withdraw()
        hasFailed = true
        operation.failed(at: queue.now)
        queue.refused("RegisterMonitor", error)
        if error.name == "org.bluez.Error.AlreadyExists" {
            // The answer to an earlier registration was lost.
            call = try? bus.call(BlueZ.service, path, BlueZ.monitorManager, "UnregisterMonitor") {
                message throws(BusError) in
                try message.append(path: root)
            } answer: { _ in
            }
        }
    }

    private func withdraw() {
        manager = nil
        monitors = []
    }

    private func released() {
        // bluetoothd also calls this when we end them ourselves.
        guard operation.lost(at: queue.now, isKnown: true) else { return }
        hasFailed = true
        queue.reportOnce(.commandFailed, "bluetoothd released a monitor; it is registered again.")
    }

    /// Returns the monitor's properties (org.bluez.AdvertisementMonitor(5)).
    private func interface(_ patterns: [[UInt8]], _ goal: Goal) -> BusInterface {
        var interface = BusInterface(
            name: BlueZ.monitor,
            properties: [
                BusProperty(name: "Type", type: "s") { message throws(BusError) in
                    try message.append("or_patterns")
                },
                BusProperty(name: "Patterns", type: "a(yyay)") { message throws(BusError) in
                    try message.appendArray(of: "(yyay)") { () throws(BusError) in
                        for pattern in patterns {
                            try message.appendStructure("yyay") { () throws(BusError) in
                                // From the first byte of manufacturer specific data (Assigned Numbers, 2.3).
                                try message.append(UInt8(0))
                                try message.append(UInt8(0xFF))
                                try message.append(pattern)
                            }
                        }
                    }
                },
            ],
            methods: [
                "Activate": { [weak self] _, _ throws(BusError) in self?.activations += 1 },
                "Release": { [weak self] _, _ throws(BusError) in self?.released() },
                // A device lost by bluetoothd is no sighting, so there is nothing to do.
                "DeviceLost": { _, _ throws(BusError) in },
                "DeviceFound": { [weak self] call, _ throws(BusError) in
                    guard let self, isTrusted(call) else { return }
                    found(try call.readPath())
                },
            ])
        // Without thresholds bluetoothd reports every matching advert, as presence requires. If only the duplicate
        // filter matters, the thresholds match everything and make bluetoothd report a device once, since the adverts
        // arrive by the search (bluetoothd 5.66, adv_monitor.c).
        if goal == .anyBeacon {
            for (name, value) in [("RSSIHighThreshold", Int16(-127)), ("RSSILowThreshold", -127)] {
                interface.properties.append(
                    BusProperty(name: name, type: "n") { message throws(BusError) in try message.append(value) })
            }
            for (name, value) in [("RSSIHighTimeout", UInt16(1)), ("RSSILowTimeout", 300), ("RSSISamplingPeriod", 0)] {
                interface.properties.append(
                    BusProperty(name: name, type: "q") { message throws(BusError) in try message.append(value) })
            }
        }
        return interface
    }

    /// Returns the patterns of each monitor.
    static func patterns(for goal: Goal) -> [[[UInt8]]] {
        let prefix: [UInt8] = [0x4C, 0x00, 0x02, 0x15]
        guard case .uuids(let uuids) = goal, uuids.count <= patternLimit * monitorLimit else { return [[prefix]] }
        let patterns = uuids.sorted().map { prefix + $0.bytes }
        return stride(from: 0, to: patterns.count, by: patternLimit).map {
            Array(patterns[$0..<min($0 + patternLimit, patterns.count)])
        }
    }
}

extension ProximityUUID {
    /// The 16 bytes in the order of transmission.
    fileprivate var bytes: [UInt8] {
        withUnsafeBytes(of: (high.bigEndian, low.bigEndian)) { Array($0) }
    }
}
