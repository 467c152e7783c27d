internal import BeaconModel
internal import BeaconMonitoring
internal import BeaconRadio
internal import BeaconSupport
internal import Synchronization

/// The thread-safe part of a central manager that scans for devices.
///
/// Each scan is a separate client of the center, so that an advert for an earlier scan cannot be mistaken for one of a
/// later scan.
final class Scanner: Sendable {
    /// The maximum number of adverts that wait for callbacks. A busy place has a thousand a second.
    private static let capacity = 4096

    /// The maximum number of remembered devices. If there are more, the ones not heard for longest are removed.
    private static let maximumDevices = 8192

    private struct Scan {
        let client: ClientID
        let request: ScanRequest
        var devices: [DeviceAddress: DiscoveredDevice] = [:]
        var waiting: [HeardAdvert] = []
    }

    private struct State {
        var scan: Scan?
        /// The device objects that apps may still have, by address.
        var peripherals: [DeviceAddress: WeakReference<CBPeripheral>] = [:]
    }

    let core: ManagerCore
    private let state = Locked(State())

    private var center: BeaconCenter { core.center }

    init(_ core: ManagerCore) { self.core = core }

    deinit { stop() }

    /// A Boolean value indicating whether a scan is running.
    var isScanning: Bool { state.withLock { $0.scan != nil } }

    /// Starts a scan, which replaces the previous one.
    func start(_ request: ScanRequest, for manager: CBCentralManager) {
        let client = center.makeClientID()
        replace(by: Scan(client: client, request: request))
        let manager = WeakReference(manager)
        center.addClient(client) { [weak self, weak center, context = core.context] event in
            guard case .heard(let adverts) = event, let self, put(adverts, for: client) else { return }
            center?.makeCallback(in: context) { [weak self] in self?.deliver(to: manager, for: client) }
        }
        center.perform { $0.scan(true, for: client) }
    }

    /// Stops the scan.
    func stop() { replace(by: nil) }

    /// Replaces the scan in one step, so that no scan remains if two threads start one.
    private func replace(by new: Scan?) {
        let old = state.withLock { state in
            defer {
                state.scan = new
                // Objects that an app still has are found again by address.
                state.peripherals = state.peripherals.filter { $0.value.object != nil }
            }
            return state.scan
        }
        if let old { center.perform { $0.removeClient(old.client) } }
    }

    /// Returns the object of a device, which is the same for as long as the app keeps it.
    func peripheral(at address: DeviceAddress) -> CBPeripheral {
        state.withLock { UnsafeTransfer(Self.peripheral(at: address, in: &$0)) }.value
    }

    /// Stores adverts for a callback.
    ///
    /// - Returns: true if no adverts were waiting. The caller must then submit a callback that delivers them.
    private func put(_ adverts: [HeardAdvert], for client: ClientID) -> Bool {
        let (isFirst, isFull) = state.withLock { state -> (Bool, Bool) in
            guard var scan = state.scan, scan.client == client else { return (false, false) }
            // Moved out of the state, so that the array is not copied.
            state.scan = nil
            defer { state.scan = scan }
            let isFirst = scan.waiting.isEmpty
            scan.waiting += adverts
            let excess = scan.waiting.count - Self.capacity
            if excess > 0 { scan.waiting.removeFirst(excess) }
            return (isFirst, excess > 0)
        }
        if isFull {
            BluetoothLog.once(
                "A central manager's queue of adverts is full, and the oldest are dropped; do less "
                    + "in didDiscover, or omit CBCentralManagerScanOptionAllowDuplicatesKey.")
        }
        return isFirst
    }

    /// Delivers the waiting adverts. Runs in the callback context.
    private func deliver(to manager: WeakReference<CBCentralManager>, for client: ClientID) {
        let adverts = state.withLock { state -> [HeardAdvert] in
            guard state.scan?.client == client else { return [] }
            defer { state.scan?.waiting = [] }
            return state.scan?.waiting ?? []
        }
        for advert in adverts {
            guard let manager = manager.object, let found = discover(advert, for: client)?.value else { continue }
            manager.delegate?.centralManager(
                manager, didDiscover: found.peripheral, advertisementData: found.data,
                rssi: NSNumber(value: advert.reception.report.rssi.dBm ?? 127))
        }
    }

    /// Processes an advert.
    ///
    /// - Returns: the device and its data if they must be reported to the app.
    private func discover(
        _ advert: HeardAdvert, for client: ClientID
    ) -> UnsafeTransfer<(peripheral: CBPeripheral, data: [String: Any])>? {
        guard !advert.reception.isDamaged else { return nil }
        let address = advert.reception.report.address
        return state.withLock { state in
            // A callback may have ended the scan. The scan is not copied, since that would copy its table with each
            // advert.
            guard state.scan?.client == client, let request = state.scan?.request else { return nil }
            var device = state.scan?.devices[address] ?? DiscoveredDevice()
            device.hear(advert, hidesBeacons: center.hidesBeaconsFromScans.load(ordering: .relaxed))
            defer {
                state.scan?.devices[address] = device
                if state.scan?.devices.count ?? 0 > Self.maximumDevices { Self.forgetOldest(&state) }
            }
            guard request.matches(device.contents) else { return nil }
            let data = device.advertisementData
            // A complete name counts as new data after a shortened one.
            let keys = Set(data.keys).union([device.contents.localName ?? ""])
            // A device that responds to a scan request is reported again, since apps wait for its name.
            if let reported = device.reported, !request.allowsDuplicates, keys.isSubset(of: reported) { return nil }
            device.reported = (device.reported ?? []).union(keys)
            let peripheral = Self.peripheral(at: address, in: &state)
            if let name = device.contents.localName { peripheral.learn(name: name) }
            return UnsafeTransfer((peripheral, data))
        }
    }

    private static func peripheral(at address: DeviceAddress, in state: inout State) -> CBPeripheral {
        if let known = state.peripherals[address]?.object { return known }
        let new = CBPeripheral(identifier: address.identifier)
        state.peripherals[address] = WeakReference(new)
        return new
    }

    /// Removes the half of the devices that was not heard for longest, and the objects that no app has.
    private static func forgetOldest(_ state: inout State) {
        guard let devices = state.scan?.devices else { return }
        let kept = devices.sorted { $0.value.heard > $1.value.heard }.prefix(maximumDevices / 2)
        state.scan?.devices = Dictionary(uniqueKeysWithValues: kept.map { ($0.key, $0.value) })
        state.peripherals = state.peripherals.filter { $0.value.object != nil }
    }
}
