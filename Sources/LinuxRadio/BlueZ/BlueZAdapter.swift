public import BeaconModel

/// An adapter as bluetoothd shows it.
public struct BlueZAdapter: Hashable, Sendable {
    /// The place where wanted adverts are distinguished from others.
    @nonexhaustive
    public enum Monitoring: Hashable, Sendable {
        /// Nobody: this bluetoothd runs without `--experimental`.
        case none
        /// bluetoothd itself.
        case daemon
        /// The controller.
        case controller
    }

    /// Its place on the bus, as `/org/bluez/hci0`.
    public var path: String

    /// Its own address.
    public var address = DeviceAddress(bits: 0, kind: .public)

    /// True if the adapter is switched on.
    public var isPowered = false

    /// True if bluetoothd looks for devices, for whomever.
    public var isDiscovering = false

    /// The place where it filters adverts.
    public var monitoring = Monitoring.none

    /// True if it can send adverts.
    public var canAdvertise = false

    /// The version of bluetoothd, as 5.66, where its adapter reports one.
    public var version: String?

    /// Creates an adapter of which nothing is known so far.
    init(path: String) { self.path = path }

    /// The adapter as people know it: `hci0`.
    public var name: String { String(path.split(separator: "/").last ?? "") }

    /// Returns whether `name` means this one.
    func isNamed(_ name: AdapterName) -> Bool {
        switch name {
        case .index(let index): self.name == "hci\(index)"
        case .address(let address): self.address.bits == address.bits
        }
    }

    /// The adapters in an answer to GetManagedObjects. The devices in it, which may be thousands, are stepped over.
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

    /// Reads the interfaces that come next, `a{sa{sv}}`.
    ///
    /// - Returns: whether Adapter1 is among them.
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
                        // What the controller itself can do (org.bluez.AdvertisementMonitorManager(5)).
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

    /// Reads the properties of Adapter1 that come next, `a{sv}`.
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

    /// bluetoothd's version where it describes itself, as it does unless main.conf has a DeviceID:
    /// `usb:v1D6Bp0246d0542` is the Linux Foundation's product for BlueZ, version 5.66, both halves in hexadecimal.
    static func version(modalias: String) -> String? {
        let prefix = "usb:v1D6Bp0246d"
        guard modalias.hasPrefix(prefix), let number = UInt16(modalias.dropFirst(prefix.count), radix: 16) else {
            return nil
        }
        return "\(number >> 8).\(number & 0xFF)"
    }
}

extension BusMessage {
    /// A variant that holds a list of strings; nothing where it holds anything else.
    fileprivate func readFeatures() throws(BusError) -> [String] {
        var features: [String] = []
        _ = try readVariant("as") { () throws(BusError) in
            try readArray(of: "s") { () throws(BusError) in features.append(try readString()) }
        }
        return features
    }
}
