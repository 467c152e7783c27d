import BeaconModel

@testable import LinuxRadio

/// The parts of bluetoothd that a driver uses, on a real bus: org.bluez, its adapters, managers and devices.
final class StandInBlueZ {
    /// A registered monitor.
    struct Monitor: Equatable {
        var path: String
        var owner: String
        var patterns: [[UInt8]] = []
        var properties: Set<String> = []
    }

    /// A registered advert.
    struct Advert: Equatable {
        var path: String
        var owner: String
        var data: [UInt8] = []
        var type = ""
        var interval: UInt32 = 0
        var properties: Set<String> = []
    }

    /// The called methods, in order.
    private(set) var calls: [String] = []

    /// The filter of the search.
    private(set) var filter: [String: String] = [:]

    /// The registered monitors and adverts.
    private(set) var monitors: [Monitor] = []
    private(set) var adverts: [Advert] = []

    /// Calls to refuse, by method.
    var refusals: [String: BusError] = [:]

    private let bus: SystemBus
    private var slots: [BusSlot] = []
    private var root: BusObject?
    private var objects: [String: BusObject] = [:]
    private var adapters: [StandInAdapter] = []

    init(at address: String, _ adapters: [StandInAdapter] = [StandInAdapter("hci0")], isNamed: Bool = true) throws {
        bus = try SystemBus(address: address)
        root = try BusObject(on: bus, at: "/", []) { [weak self] in
            guard let self else { return [] }
            return self.adapters.compactMap { self.objects[$0.path] }
        }
        for adapter in adapters { try add(adapter, isChange: false) }
        guard isNamed else { return }
        slots.append(
            try bus.call(
                "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "RequestName"
            ) { message throws(BusError) in
                try message.append("org.bluez")
                try message.append(UInt32(0))
            } answer: { _ in
            })
    }

    var descriptor: Int32 { bus.descriptor }

    /// Processes all pending messages. An error means that the bus has ended.
    func process() { while (try? bus.process()) == true {} }

    /// Adds an adapter.
    func add(_ adapter: StandInAdapter, isChange: Bool = true) throws {
        let object = try BusObject(on: bus, at: adapter.path, interfaces(of: adapter))
        objects[adapter.path] = object
        adapters.append(adapter)
        guard isChange else { return }
        try bus.signal("/", "org.freedesktop.DBus.ObjectManager", "InterfacesAdded") { message throws(BusError) in
            try message.append(path: adapter.path)
            try object.appendInterfaces(to: message)
        }
    }

    /// Removes an adapter.
    func remove(_ adapter: StandInAdapter) throws {
        adapters.removeAll { $0 === adapter }
        objects[adapter.path] = nil
        monitors = []
        adverts = []
        try bus.signal("/", "org.freedesktop.DBus.ObjectManager", "InterfacesRemoved") { message throws(BusError) in
            try message.append(path: adapter.path)
            try message.appendArray(of: "s") { () throws(BusError) in try message.append("org.bluez.Adapter1") }
        }
    }

    /// Switches an adapter on or off, as `bluetoothctl power off` does.
    func power(_ adapter: StandInAdapter, _ isOn: Bool) throws {
        adapter.isPowered = isOn
        try notifyChange(adapter.path, "org.bluez.Adapter1", "Powered", "b") { message throws(BusError) in
            try message.append(isOn)
        }
    }

    /// Reports a device for the first time.
    func appear(_ device: StandInDevice) throws {
        let object = try BusObject(on: bus, at: device.path, [device.interface])
        objects[device.path] = object
        try bus.signal("/", "org.freedesktop.DBus.ObjectManager", "InterfacesAdded") { message throws(BusError) in
            try message.append(path: device.path)
            try object.appendInterfaces(to: message)
        }
    }

    /// Adds a device without reporting it.
    func know(_ device: StandInDevice) throws {
        objects[device.path] = try BusObject(on: bus, at: device.path, [device.interface])
    }

    /// Forgets a device.
    func disappear(_ device: StandInDevice) throws {
        objects[device.path] = nil
        try bus.signal("/", "org.freedesktop.DBus.ObjectManager", "InterfacesRemoved") { message throws(BusError) in
            try message.append(path: device.path)
            try message.appendArray(of: "s") { () throws(BusError) in try message.append("org.bluez.Device1") }
        }
    }

    /// Reports a device's signal strength and, if `isWhole`, its manufacturer data.
    func hear(_ device: StandInDevice, rssi: Int16, isWhole: Bool = true) throws {
        device.rssi = rssi
        try bus.signal(device.path, "org.freedesktop.DBus.Properties", "PropertiesChanged") {
            message throws(BusError) in
            try message.append("org.bluez.Device1")
            var interface = device.interface
            interface.properties.removeAll { $0.name != "RSSI" && (!isWhole || $0.name != "ManufacturerData") }
            try interface.appendProperties(to: message)
            try message.appendArray(of: "s") { () throws(BusError) in }
        }
    }

    /// Notifies each monitor that it found or lost a device.
    func notifyMonitors(_ method: String, of device: StandInDevice) throws {
        for monitor in monitors { try notify(monitor, method, of: device) }
    }

    /// Notifies a monitor that it found or lost a device.
    func notify(_ monitor: Monitor, _ method: String, of device: StandInDevice) throws {
        slots.append(
            try bus.call(monitor.owner, monitor.path, "org.bluez.AdvertisementMonitor1", method) {
                message throws(BusError) in
                try message.append(path: device.path)
            } answer: { _ in
            })
    }

    /// Waits until the bus has processed all messages sent before.
    func synchronize() throws {
        var isAnswered = false
        let call = try bus.call(
            "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "GetId"
        ) { _ in
            isAnswered = true
        }
        try withExtendedLifetime(call) {
            while !isAnswered { if try !bus.process() { try bus.wait(until: .latest) } }
        }
    }

    /// Releases an advert, as bluetoothd does by itself.
    func release(_ advert: Advert) throws {
        adverts.removeAll { $0 == advert }
        slots.append(
            try bus.call(advert.owner, advert.path, "org.bluez.LEAdvertisement1", "Release") { _ throws(BusError) in
            } answer: { _ in
            })
    }

    /// Returns how often a method was called.
    func count(_ method: String) -> Int { calls.count { $0 == method } }

    private func notifyChange(
        _ path: String, _ interface: String, _ name: String, _ type: String,
        _ append: @escaping (BusMessage) throws(BusError) -> Void
    ) throws {
        try bus.signal(path, "org.freedesktop.DBus.Properties", "PropertiesChanged") { message throws(BusError) in
            try message.append(interface)
            try BusInterface(name: interface, properties: [BusProperty(name: name, type: type, append: append)])
                .appendProperties(to: message)
            try message.appendArray(of: "s") { () throws(BusError) in }
        }
    }

    private func note(_ method: String) throws(BusError) {
        calls.append(method)
        if let refusal = refusals[method] { throw refusal }
    }

    private func interfaces(of adapter: StandInAdapter) -> [BusInterface] {
        var interfaces = [
            BusInterface(
                name: "org.bluez.Adapter1",
                properties: [
                    BusProperty(name: "Address", type: "s") { message throws(BusError) in
                        try message.append(adapter.address)
                    },
                    BusProperty(name: "Powered", type: "b") { message throws(BusError) in
                        try message.append(adapter.isPowered)
                    },
                    BusProperty(name: "Discovering", type: "b") { message throws(BusError) in
                        try message.append(adapter.isDiscovering)
                    },
                    BusProperty(name: "Modalias", type: "s") { message throws(BusError) in
                        try message.append("usb:v1D6Bp0246d0542")
                    },
                ],
                methods: [
                    "SetDiscoveryFilter": { [weak self] call, _ throws(BusError) in try self?.setFilter(call) },
                    "StartDiscovery": { [weak self] _, _ throws(BusError) in
                        try self?.note("StartDiscovery")
                        try self?.search(adapter, true)
                    },
                    "StopDiscovery": { [weak self] _, _ throws(BusError) in
                        try self?.note("StopDiscovery")
                        try self?.search(adapter, false)
                    },
                ]),
            BusInterface(
                name: "org.bluez.LEAdvertisingManager1",
                methods: [
                    "RegisterAdvertisement": { [weak self] call, _ throws(BusError) in try self?.register(advert: call)
                    },
                    "UnregisterAdvertisement": { [weak self] call, _ throws(BusError) in
                        try self?.note("UnregisterAdvertisement")
                        let path = try call.readPath()
                        self?.adverts.removeAll { $0.path == path }
                    },
                ]),
            BusInterface(
                name: "org.freedesktop.DBus.Properties",
                methods: [
                    "Set": { [weak self] call, _ throws(BusError) in
                        try self?.note("Set")
                        _ = try call.readString()
                        _ = try call.readString()
                        let isOn = try call.readVariant("b") { () throws(BusError) in try call.readBool() }
                        try? self?.power(adapter, isOn ?? false)
                    }
                ]),
        ]
        if adapter.hasMonitors {
            interfaces.append(
                BusInterface(
                    name: "org.bluez.AdvertisementMonitorManager1",
                    properties: [
                        BusProperty(name: "SupportedFeatures", type: "as") { message throws(BusError) in
                            try message.appendArray(of: "s") { () throws(BusError) in
                                for feature in adapter.features { try message.append(feature) }
                            }
                        }
                    ],
                    methods: [
                        "RegisterMonitor": { [weak self] call, _ throws(BusError) in try self?.register(monitors: call)
                        },
                        "UnregisterMonitor": { [weak self] _, _ throws(BusError) in
                            try self?.note("UnregisterMonitor")
                            self?.monitors = []
                        },
                    ]))
        }
        return interfaces
    }

    private func search(_ adapter: StandInAdapter, _ isOn: Bool) throws(BusError) {
        adapter.isDiscovering = isOn
        try? notifyChange(adapter.path, "org.bluez.Adapter1", "Discovering", "b") { message throws(BusError) in
            try message.append(isOn)
        }
    }

    private func setFilter(_ call: BusMessage) throws(BusError) {
        try note("SetDiscoveryFilter")
        filter = [:]
        try call.readProperties { [self] name throws(BusError) in
            switch name {
            case "Transport":
                filter[name] = try call.readVariant("s") { () throws(BusError) in try call.readString() }
            case "DuplicateData":
                filter[name] = try call.readVariant("b") { () throws(BusError) in "\(try call.readBool())" }
            default:
                filter[name] = "?"
                try call.skip("v")
            }
        }
    }

    /// Reads the caller's monitors and activates them, as bluetoothd does.
    private func register(monitors call: BusMessage) throws(BusError) {
        try note("RegisterMonitor")
        let owner = call.sender
        let slot = try bus.call(
            owner, try call.readPath(), "org.freedesktop.DBus.ObjectManager", "GetManagedObjects"
        ) { [weak self] in
            guard let self, let answer = try? $0.get() else { return }
            try? answer.readArray(of: "{oa{sa{sv}}}") { () throws(BusError) in
                try answer.readEntry("oa{sa{sv}}") { () throws(BusError) in
                    var monitor = Monitor(path: try answer.readPath(), owner: owner)
                    try answer.readArray(of: "{sa{sv}}") { () throws(BusError) in
                        try answer.readEntry("sa{sv}") { () throws(BusError) in
                            _ = try answer.readString()
                            try answer.readProperties { name throws(BusError) in
                                monitor.properties.insert(name)
                                guard name == "Patterns" else { return try answer.skip("v") }
                                monitor.patterns = try Self.readPatterns(answer)
                            }
                        }
                    }
                    monitors.append(monitor)
                    slots.append(
                        try bus.call(owner, monitor.path, "org.bluez.AdvertisementMonitor1", "Activate") {
                            _ throws(BusError) in
                        } answer: { _ in
                        })
                }
            }
        }
        slots.append(slot)
    }

    private static func readPatterns(_ message: BusMessage) throws(BusError) -> [[UInt8]] {
        var patterns: [[UInt8]] = []
        _ = try message.readVariant("a(yyay)") { () throws(BusError) in
            try message.readArray(of: "(yyay)") { () throws(BusError) in
                try message.readStructure("yyay") { () throws(BusError) in
                    patterns.append([try message.readUInt8(), try message.readUInt8()] + (try message.readBytes()))
                }
            }
        }
        return patterns
    }

    private func register(advert call: BusMessage) throws(BusError) {
        try note("RegisterAdvertisement")
        var advert = Advert(path: try call.readPath(), owner: call.sender)
        let slot = try bus.call(advert.owner, advert.path, "org.freedesktop.DBus.Properties", "GetAll") {
            message throws(BusError) in
            try message.append("org.bluez.LEAdvertisement1")
        } answer: { [weak self] in
            guard let self, let answer = try? $0.get() else { return }
            try? answer.readProperties { name throws(BusError) in
                advert.properties.insert(name)
                switch name {
                case "Type":
                    advert.type = try answer.readVariant("s") { () throws(BusError) in try answer.readString() } ?? ""
                case "MinInterval":
                    advert.interval =
                        try answer.readVariant("u") { () throws(BusError) in try answer.readUInt32() } ?? 0
                case "ManufacturerData":
                    _ = try answer.readVariant("a{qv}") { () throws(BusError) in
                        try answer.readArray(of: "{qv}") { () throws(BusError) in
                            try answer.readEntry("qv") { () throws(BusError) in
                                guard try answer.readUInt16() == 0x4C else { return try answer.skip("v") }
                                advert.data =
                                    try answer.readVariant("ay") { () throws(BusError) in try answer.readBytes() } ?? []
                            }
                        }
                    }
                default: try answer.skip("v")
                }
            }
            adverts.append(advert)
        }
        slots.append(slot)
    }
}
