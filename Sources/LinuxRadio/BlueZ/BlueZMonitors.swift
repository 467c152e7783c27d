import BeaconModel
import BeaconRadio

/// Advertisement monitors: patterns that bluetoothd compares adverts with for us.
final class BlueZMonitors {
    /// What is looked for.
    enum Goal: Equatable {
        /// Any beacon. bluetoothd tells nothing of matches; what is wanted is that monitors have the controller's duplicate
        /// filter switched off.
        case anyBeacon
        /// Beacons of these UUIDs, each advert told.
        case uuids(Set<ProximityUUID>)
    }

    /// Patterns in one monitor, as many as the kernel takes (MGMT's Add Advertisement Patterns Monitor; `max_num_patterns`
    /// is 16).
    static let patternLimit = 16

    /// Monitors at once. The kernel has 32 in all, for everybody.
    static let monitorLimit = 8

    private let bus: SystemBus
    private let path: String
    private let root: String
    private let reports: BlueZReports
    private let isTrusted: (BusMessage) -> Bool
    private let found: (String) -> Void
    private var undertaking = Undertaking<Goal>()
    private var call: BusSlot?
    private var manager: BusObject?
    private var monitors: [BusObject] = []
    private var activations = 0
    private var hasFailed = false
    private var settling = Timestamp.zero

    /// How long bluetoothd may take to tell that the controller knows the patterns. It is a matter of milliseconds.
    private static let settlingTime = 5 * Timestamp.nanosecondsPerSecond

    /// Monitors of the adapter at `path`.
    ///
    /// - Parameter found: told of each device that a monitor found an advert of.
    init(
        on bus: SystemBus, _ path: String, _ reports: BlueZReports, isTrusted: @escaping (BusMessage) -> Bool,
        found: @escaping (String) -> Void
    ) {
        self.bus = bus
        self.path = path
        self.reports = reports
        self.isTrusted = isTrusted
        self.found = found
        root = "/swift_beacon/\(reports.adapter)/monitors"
    }

    /// What to look for.
    var goal: Goal? {
        get { undertaking.wanted }
        set { undertaking.wanted = newValue }
    }

    /// What bluetoothd looks for.
    var current: Goal? { undertaking.current }

    /// Whether the controller knows what is looked for, or will not for now.
    var isSettled: Bool {
        if hasFailed, undertaking.wanted != nil { return true }
        guard undertaking.isSettled else { return false }
        return activations >= monitors.count || reports.now >= settling
    }

    /// When ``advance()`` should be called at the latest.
    var deadline: Timestamp {
        isSettled || undertaking.current == nil ? undertaking.deadline : min(undertaking.deadline, settling)
    }

    /// Whether bluetoothd does nothing for us and nothing is under way.
    var isIdle: Bool { undertaking.isIdle }

    /// Does what is due.
    func advance() {
        do throws(BusError) {
            switch undertaking.next(at: reports.now) {
            case .begin(let goal): try begin(goal)
            case .end: try end()
            case nil: break
            }
        } catch {
            refused(error)
        }
    }

    /// Takes the monitors back and registers them anew.
    func renew() { undertaking.renew() }

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
                settling = reports.now.advanced(by: Self.settlingTime)
                undertaking.began(goal, at: reports.now)
                reports.forget(.commandFailed)
            case .failure(let error): refused(error)
            }
        }
    }

    private func end() throws(BusError) {
        call = try bus.call(BlueZ.service, path, BlueZ.monitorManager, "UnregisterMonitor") {
            message throws(BusError) in
            try message.append(path: root)
        } answer: { [weak self] _ in
            // Where bluetoothd does not know of them, they are gone too.
            self?.withdraw()
            self?.undertaking.ended()
        }
    }

    private func refused(_ error: BusError) {
        withdraw()
        hasFailed = true
        undertaking.failed(at: reports.now)
        reports.refused("RegisterMonitor", error)
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
        // It also comes when we end them ourselves.
        guard undertaking.lost(at: reports.now, isKnown: true) else { return }
        hasFailed = true
        reports.tellOnce(.commandFailed, "bluetoothd gave up a monitor; it is registered anew.")
    }

    /// The monitor's properties (org.bluez.AdvertisementMonitor(5)).
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
                // That bluetoothd lost a device is no sighting, and that is all there is to say of it.
                "DeviceLost": { _, _ throws(BusError) in },
                "DeviceFound": { [weak self] call, _ throws(BusError) in
                    guard let self, isTrusted(call) else { return }
                    found(try call.readPath())
                },
            ])
        // With thresholds left open bluetoothd tells of each advert that matches, which is what presence needs. Where only
        // the duplicate filter matters the thresholds let everything in and have it told once, since the adverts come by
        // another way (bluetoothd 5.66, adv_monitor.c).
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

    /// The patterns of each monitor that is needed.
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
    /// The 16 bytes as they travel.
    fileprivate var bytes: [UInt8] {
        withUnsafeBytes(of: (high.bigEndian, low.bigEndian)) { Array($0) }
    }
}
