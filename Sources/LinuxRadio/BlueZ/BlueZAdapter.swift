public import BeaconModel

/// An adapter as bluetoothd shows it.
public struct BlueZAdapter: Hashable, Sendable {
    /// The part of the system that compares adverts with the patterns of monitors.
    @nonexhaustive
    public enum Monitoring: Hashable, Sendable {
        /// None: this bluetoothd runs without `--experimental`.
        case none
        /// bluetoothd itself.
        case daemon
        /// The controller.
        case controller
    }

    /// Its object path on the bus, such as `/org/bluez/hci0`.
    public var path: String

    /// Its address.
    public var address = DeviceAddress(bits: 0, kind: .public)

    /// True if the adapter is switched on.
    public var isPowered = false

    /// True if bluetoothd searches for devices, for any client.
    public var isDiscovering = false

    /// The part of the system that filters adverts.
    public var monitoring = Monitoring.none

    /// True if it can send adverts.
    public var canAdvertise = false

    /// The version of bluetoothd, such as 5.66, if its adapter reports one.
    public var version: String?

    /// Creates an adapter whose properties are not yet known.
    init(path: String) { self.path = path }

    /// The adapter's name: `hci0`.
    public var name: String { String(path.split(separator: "/").last ?? "") }

    /// Returns true if `name` means this adapter.
    func isNamed(_ name: AdapterName) -> Bool {
        switch name {
        case .index(let index): self.name == "hci\(index)"
        case .address(let address): self.address.bits == address.bits
        }
    }

    /// Returns the adapters in an answer to GetManagedObjects. It skips the devices in the answer, which may be
    /// thousands.
    static func adapters(in message: BusMessage) throws(BusError) -> [BlueZAdapter] {
        var adapters: [BlueZAdapter] = []
        try message.readArray(of: "{oa{sa{sv}}}") { () throws(BusError) in
            try message.readEntry("oa{sa{sv}}") { () throws(BusError) in
                let path = try message.readPath()
                // Devices lie below their adapter: /org/bluez/hci0/dev_….
                guard path.utf8.count(where: { $0 == UInt8(ascii: "/") }) == 3 else {
                    try message.skip("a{sa{sv}}")
                    return
                }
                var adapter = BlueZAdapter(path: path)
                if try adapter.add(interfacesIn: message) { adapters.append(adapter) }
            }
        }
        return adapters
    }

    /// Reads the interfaces at the message's position, `a{sa{sv}}`.
    ///
    /// - Returns: true if Adapter1 is among them.
    mutating func add(interfacesIn message: BusMessage) throws(BusError) -> Bool {
        var isAdapter = false
        try message.readArray(of: "{sa{sv}}") { () throws(BusError) in
            try message.readEntry("sa{sv}") { () throws(BusError) in
                switch try message.readString() {
                case BlueZ.adapter:
                    isAdapter = true
                    try update(from: message)
                case BlueZ.monitorManager:
                    monitoring = .daemon
                    try message.readProperties { name throws(BusError) in
                        guard name == "SupportedFeatures" else { return try message.skip("v") }
                        // The controller's own features (org.bluez.AdvertisementMonitorManager(5)).
                        if try message.readFeatures().contains("controller-patterns") { monitoring = .controller }
                    }
                case BlueZ.advertisingManager:
                    canAdvertise = true
                    try message.skip("a{sv}")
                default:
                    try message.skip("a{sv}")
                }
            }
        }
        return isAdapter
    }

    /// Reads the properties of Adapter1 at the message's position, `a{sv}`.
    mutating func update(from message: BusMessage) throws(BusError) {
        try message.readProperties { name throws(BusError) in
            switch name {
            case "Address":
                let text = try message.readVariant("s") { () throws(BusError) in try message.readString() }
                address = text.flatMap { DeviceAddress($0, kind: .public) } ?? address
            case "Powered":
                isPowered =
                    try message.readVariant("b") { () throws(BusError) in try message.readBool() } ?? isPowered
            case "Discovering":
                isDiscovering =
                    try message.readVariant("b") { () throws(BusError) in try message.readBool() } ?? isDiscovering
            case "Modalias":
                let text = try message.readVariant("s") { () throws(BusError) in try message.readString() }
                version = text.flatMap(Self.version(modalias:)) ?? version
            default:
                try message.skip("v")
            }
        }
    }

    /// bluetoothd's version if it describes itself, as it does unless main.conf has a DeviceID: `usb:v1D6Bp0246d0542`
    /// is the Linux Foundation's product for BlueZ, version 5.66, both halves in hexadecimal.
    static func version(modalias: String) -> String? {
        let prefix = "usb:v1D6Bp0246d"
        guard modalias.hasPrefix(prefix), let number = UInt16(modalias.dropFirst(prefix.count), radix: 16) else {
            return nil
        }
        return "\(number >> 8).\(number & 0xFF)"
    }
}

extension BusMessage {
    /// Reads a variant with a list of strings; returns an empty list for any other type.
    fileprivate func readFeatures() throws(BusError) -> [String] {
        var features: [String] = []
        _ = try readVariant("as") { () throws(BusError) in
            try readArray(of: "s") { () throws(BusError) in features.append(try readString()) }
        }
        return features
    }
}
