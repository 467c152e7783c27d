import BeaconModel
import BeaconRadio

/// The beacons among bluetoothd's devices, or all of its devices. Turns their reports into adverts.
///
/// bluetoothd reports only changed properties, so the others are kept for as long as a device is received. Unless an
/// app searches for other devices, only beacons are kept, and the addresses of others if one may be a tag's: a busy
/// street must not fill memory. The list of all devices is never queried.
final class BlueZDevices {
    /// The devices that bluetoothd reports to us.
    enum Attention: Equatable {
        /// Nothing.
        case none
        /// The devices that a monitor found, with a match rule for each.
        case found
        /// Every device of the adapter.
        case all
    }

    /// The devices whose adverts are reported.
    enum Interest: Equatable {
        /// Beacons.
        case beacons
        /// Beacons, and other devices without their data. Tags are recognized by their addresses.
        case addresses
        /// All devices, with their data.
        case everything
    }

    /// The most devices kept at once. A large site has a thousand beacons; four times that number needs less than 2 MB.
    static let limit = 4096

    /// The most devices queried at once. A device beyond that is queried at its next advert.
    static let questionLimit = 64

    /// The time after which a silent device is forgotten: twice as long as bluetoothd itself keeps an unpaired device
    /// (TemporaryTimeout in main.conf, 30 s).
    static let memory: Int64 = 60 * Timestamp.nanosecondsPerSecond

    /// The state of a device.
    private struct Device {
        var address: DeviceAddress
        /// The AD structure that makes it a beacon; empty until it is known to be one.
        var advert: [UInt8] = []
        /// The other AD structures by property, if all devices are reported.
        var structures: [String: [UInt8]] = [:]
        var rssi = SignalStrength.unavailable
        var heard: Timestamp
        /// The query for properties that are not yet known.
        var question: BusSlot?
        /// The subscription to its changes, if bluetoothd does not report all devices' changes.
        var changes: BusSlot?
        /// True if an advert waits for the answer to the query.
        var isAwaited = false
    }

    /// The changes of a device in one message.
    private struct Update {
        var address: DeviceAddress?
        var addressKind: DeviceAddress.Kind?
        var rssi: SignalStrength?
        /// The beacon's AD structure; empty if there is manufacturer data but not a beacon's.
        var advert: [UInt8]?
        /// The AD structures for its other properties.
        var structures: [String: [UInt8]] = [:]

        /// True with data that only an advert changes.
        var hasData: Bool { structures["ManufacturerData"]?.isEmpty == false || structures["ServiceData"] != nil }
    }

    private let bus: SystemBus
    private let path: String
    private let queue: BlueZEventQueue
    private let isTrusted: (BusMessage) -> Bool
    private var devices: [String: Device] = [:]
    private var asked: Set<String> = []
    private var slots: [BusSlot] = []
    private var swept = Timestamp.zero

    /// The last time that bluetoothd reported a device.
    private(set) var lastReport = Timestamp.zero

    /// The devices of the adapter at `path`.
    ///
    /// - Parameter isTrusted: returns true if a message comes from bluetoothd. Any process on the bus may send us a
    ///   signal.
    init(
        on bus: SystemBus, _ path: String, _ queue: BlueZEventQueue, isTrusted: @escaping (BusMessage) -> Bool
    ) {
        self.bus = bus
        self.path = path
        self.queue = queue
        self.isTrusted = isTrusted
    }

    /// The devices that bluetoothd reports to us.
    var attention = Attention.none {
        didSet {
            guard attention != oldValue else { return }
            // Devices reported under the other rules may have changed without a report.
            slots = []
            devices = [:]
            asked = []
            if attention == .all { listenToAll() }
        }
    }

    /// The devices to report.
    var interest = Interest.beacons {
        didSet {
            guard interest != oldValue else { return }
            // Devices that were skipped before must be queried again.
            devices = [:]
            asked = []
        }
    }

    /// Handles the report of a monitor that it just found an advert of this device.
    func found(_ path: String) {
        guard attention == .found, path.hasPrefix(self.path + "/") else { return }
        lastReport = queue.now
        if devices[path] != nil {
            hear(path)
        } else if make(path) {
            // The rule is sent before the query, so that no change is missed between them.
            devices[path]?.changes = try? bus.listen(
                "type='signal',sender='\(BlueZ.service)',interface='\(BlueZ.properties)',"
                    + "member='PropertiesChanged',path='\(path)'"
            ) { [weak self] in self?.changed($0) }
            devices[path]?.isAwaited = true
            ask(path)
        }
    }

    /// Forgets the devices that have been silent for long.
    func sweep() {
        guard queue.now.since(swept) >= 10 * Timestamp.nanosecondsPerSecond else { return }
        swept = queue.now
        drop { self.queue.now.since($0.heard) > Self.memory }
    }

    private func listenToAll() {
        do throws(BusError) {
            slots.append(
                try bus.listen(
                    "type='signal',sender='\(BlueZ.service)',interface='\(BlueZ.properties)',"
                        + "member='PropertiesChanged',path_namespace='\(path)',arg0='\(BlueZ.device)'"
                ) { [weak self] in self?.changed($0) })
            slots.append(
                try bus.listen(
                    "type='signal',sender='\(BlueZ.service)',interface='\(BlueZ.objectManager)',arg0path='\(path)/'"
                ) { [weak self] in self?.interfacesChanged($0) })
        } catch {
            queue.report(.commandFailed, "cannot subscribe to bluetoothd's devices: \(error)")
        }
    }

    private func changed(_ signal: BusMessage) {
        guard isTrusted(signal) else { return }
        // Damaged messages are dropped: bluetoothd's own library makes them.
        try? read(change: signal)
    }

    private func read(change signal: BusMessage) throws(BusError) {
        guard try signal.readString() == BlueZ.device else { return }
        let path = signal.path
        let update = try Self.readUpdate(signal)
        lastReport = queue.now
        guard let device = devices[path] else {
            // With a subscription to all devices, this is a beacon that bluetoothd knew before our subscription.
            guard attention == .all, isWorthKeeping(update), make(path) else { return }
            apply(update, to: path)
            devices[path]?.isAwaited = true
            ask(path)
            return
        }
        apply(update, to: path)
        guard attention == .all, update.rssi != nil || update.advert != nil || isWorthKeeping(update) else { return }
        if device.question == nil { hear(path) } else { devices[path]?.isAwaited = true }
    }

    private func interfacesChanged(_ signal: BusMessage) {
        guard isTrusted(signal) else { return }
        lastReport = queue.now
        try? read(interfaceChange: signal)
    }

    private func read(interfaceChange signal: BusMessage) throws(BusError) {
        let path = try signal.readPath()
        if signal.member == "InterfacesRemoved" { return forget(path) }
        guard signal.member == "InterfacesAdded" else { return }
        var update: Update?
        try signal.readArray(of: "{sa{sv}}") { () throws(BusError) in
            try signal.readEntry("sa{sv}") { () throws(BusError) in
                if try signal.readString() == BlueZ.device {
                    update = try Self.readUpdate(signal)
                } else {
                    try signal.skip("a{sv}")
                }
            }
        }
        // A device without a signal strength is a paired one that bluetoothd knows from earlier.
        guard let update, isWorthKeeping(update), update.rssi != nil, make(path) else { return }
        apply(update, to: path)
        hear(path)
    }

    /// Returns true for a change that comes from an advert to report. A connection, for example, changes other
    /// properties.
    private func isWorthKeeping(_ update: Update) -> Bool {
        if update.advert?.isEmpty == false { return true }
        return switch interest {
        case .beacons: false
        case .addresses: update.rssi != nil || update.hasData
        case .everything: update.rssi != nil || !update.structures.isEmpty
        }
    }

    /// Adds a device. If there are too many, removes those that have been silent for long first.
    ///
    /// - Returns: true if there was space for it.
    private func make(_ path: String) -> Bool {
        if devices.count >= Self.limit {
            drop { self.queue.now.since($0.heard) > Self.memory / 6 }
            // Phones of strangers make way for beacons.
            if devices.count >= Self.limit, interest == .addresses { drop { $0.advert.isEmpty && $0.question == nil } }
            guard devices.count < Self.limit else {
                queue.reportOnce(.degraded, "more than \(Self.limit) devices at once; further devices are ignored.")
                return false
            }
        }
        guard let address = Self.address(path: path) else { return false }
        asked.remove(path)
        devices[path] = Device(address: address, heard: queue.now)
        return true
    }

    private func drop(_ condition: (Device) -> Bool) {
        for path in devices.filter({ condition($0.value) }).keys { forget(path) }
    }

    private func forget(_ path: String) {
        devices[path] = nil
        asked.remove(path)
    }

    /// Queries the properties that a change does not report: the kind of the address, and unchanged ones.
    private func ask(_ path: String) {
        guard asked.count < Self.questionLimit else { return forget(path) }
        let question = try? bus.call(BlueZ.service, path, BlueZ.properties, "GetAll") { message throws(BusError) in
            try message.append(BlueZ.device)
        } answer: { [weak self] in
            self?.answered(path, $0)
        }
        guard let question else { return forget(path) }
        devices[path]?.question = question
        asked.insert(path)
    }

    private func answered(_ path: String, _ answer: Result<BusMessage, BusError>) {
        guard let device = devices[path], asked.remove(path) != nil else { return }
        devices[path]?.question = nil
        guard case .success(let message) = answer, var update = try? Self.readUpdate(message) else {
            return forget(path)
        }
        // Changes reported during the query are at least as new as the answer, since both arrive in order.
        if !device.advert.isEmpty { update.advert = nil }
        if device.rssi.dBm != nil { update.rssi = nil }
        for name in device.structures.keys { update.structures[name] = nil }
        apply(update, to: path)
        if device.isAwaited { hear(path) }
    }

    private func apply(_ update: Update, to path: String) {
        guard var device = devices[path] else { return }
        if update.address != nil || update.addressKind != nil {
            device.address = DeviceAddress(
                bits: update.address?.bits ?? device.address.bits, kind: update.addressKind ?? device.address.kind)
        }
        device.rssi = update.rssi ?? device.rssi
        device.advert = update.advert ?? device.advert
        if interest == .everything { device.structures.merge(update.structures) { $1 } }
        devices[path] = device
    }

    private func hear(_ path: String) {
        devices[path]?.isAwaited = false
        devices[path]?.heard = queue.now
        guard let device = devices[path], interest != .beacons || !device.advert.isEmpty, device.question == nil
        else { return }
        let others = device.structures.sorted { $0.key < $1.key }.flatMap(\.value)
        queue.heard.append(
            BlueZEventQueue.Heard(
                time: queue.now, address: device.address, rssi: device.rssi,
                // bluetoothd does not report the kind. An iBeacon is not connectable; for other adverts the kind is
                // unknown.
                kind: interest == .everything || device.advert.isEmpty ? .extended : .nonConnectable,
                advert: device.advert + others))
    }

    /// Reads properties of Device1, `a{sv}` (org.bluez.Device(5)).
    private static func readUpdate(_ message: BusMessage) throws(BusError) -> Update {
        var update = Update()
        try message.readProperties { name throws(BusError) in
            switch name {
            case "RSSI":
                let rssi = try message.readVariant("n") { () throws(BusError) in try message.readInt16() }
                update.rssi = rssi.flatMap(Int8.init(exactly:)).map(SignalStrength.init(rawValue:))
            case "ManufacturerData":
                let data = try message.readVariant("a{qv}") { () throws(BusError) in
                    try readManufacturerData(message)
                }
                update.advert = data?.beacon ?? update.advert
                update.structures[name] = data?.others
            case "Address":
                let text = try message.readVariant("s") { () throws(BusError) in try message.readString() }
                update.address = text.flatMap { DeviceAddress($0) }
            case "AddressType":
                let text = try message.readVariant("s") { () throws(BusError) in try message.readString() }
                update.addressKind = text == "public" ? .public : text == "random" ? .random : nil
            case "Name":
                let text = try message.readVariant("s") { () throws(BusError) in try message.readString() }
                update.structures[name] = text.map { structure(0x09, Array($0.utf8)) }
            case "TxPower":
                let power = try message.readVariant("n") { () throws(BusError) in try message.readInt16() }
                update.structures[name] = power.flatMap(Int8.init(exactly:)).map {
                    structure(0x0A, [UInt8(bitPattern: $0)])
                }
            case "UUIDs":
                update.structures[name] = try message.readVariant("as") { () throws(BusError) in
                    try readServices(message)
                }
            case "ServiceData":
                update.structures[name] = try message.readVariant("a{sv}") { () throws(BusError) in
                    try readServiceData(message)
                }
            default:
                try message.skip("v")
            }
        }
        return update
    }

    /// Reads manufacturer data by company, `a{qv}`: the AD structure of the beacon, or empty without one, and those of
    /// other data.
    private static func readManufacturerData(_ message: BusMessage) throws(BusError) -> (
        beacon: [UInt8], others: [UInt8]
    ) {
        var (beacon, others): ([UInt8], [UInt8]) = ([], [])
        try message.readArray(of: "{qv}") { () throws(BusError) in
            try message.readEntry("qv") { () throws(BusError) in
                let company = try message.readUInt16()
                let data = try message.readVariant("ay") { () throws(BusError) in try message.readBytes() } ?? []
                let bytes = [UInt8(truncatingIfNeeded: company), UInt8(company >> 8)] + data
                // Apple, Inc. (Assigned Numbers, 7.1); type and length as in IBeaconFrame.
                if company == 0x004C, data.starts(with: [0x02, 0x15]), data.count >= IBeaconFrame.payloadCount - 2 {
                    beacon = structure(AdvertisingStructure.manufacturerSpecificData, bytes)
                } else {
                    others += structure(AdvertisingStructure.manufacturerSpecificData, bytes)
                }
            }
        }
        return (beacon, others)
    }

    private static func readServices(_ message: BusMessage) throws(BusError) -> [UInt8] {
        var structures: [UInt8] = []
        try message.readArray(of: "s") { () throws(BusError) in
            guard let bytes = ServiceUUID(try message.readString())?.bytes else { return }
            structures += structure(bytes.count == 2 ? 0x03 : bytes.count == 4 ? 0x05 : 0x07, bytes.reversed())
        }
        return structures
    }

    private static func readServiceData(_ message: BusMessage) throws(BusError) -> [UInt8] {
        var structures: [UInt8] = []
        try message.readArray(of: "{sv}") { () throws(BusError) in
            try message.readEntry("sv") { () throws(BusError) in
                let bytes = ServiceUUID(try message.readString())?.bytes
                let data = try message.readVariant("ay") { () throws(BusError) in try message.readBytes() } ?? []
                guard let bytes else { return }
                structures += structure(
                    bytes.count == 2 ? 0x16 : bytes.count == 4 ? 0x20 : 0x21, bytes.reversed() + data)
            }
        }
        return structures
    }

    /// Returns an AD structure, or an empty array if its length does not fit in a byte.
    private static func structure(_ type: UInt8, _ value: [UInt8]) -> [UInt8] {
        UInt8(exactly: value.count + 1).map { [$0, type] + value } ?? []
    }

    /// The address in a device's path: `/org/bluez/hci0/dev_C0_11_22_33_44_55`.
    private static func address(path: String) -> DeviceAddress? {
        guard let last = path.split(separator: "/").last, last.hasPrefix("dev_") else { return nil }
        return DeviceAddress(String(last.dropFirst(4).map { $0 == "_" ? ":" : $0 }))
    }
}
