import BeaconConfiguration
import BeaconModel
import BeaconReceivers
import BeaconSupport

// Home Assistant's storage: core.config_entries with the entries of Bermuda (custom_components/bermuda/const.py of
// agittins/bermuda), private_ble_device, ibeacon, bluetooth, esphome and mqtt; names and areas are in the registries.

extension ImportedHouse {
    /// The files of the folder `.storage`, in the order in which they refer to each other.
    struct Storage {
        /// The device registry.
        struct Device {
            var id: String
            var name: String?
            var area: String?
            var entries: Set<String>
            /// Pairs of an integration and an identifier, and of a kind of connection and an address.
            var identifiers: [(domain: String, id: String)]
            var connections: [(kind: String, address: String)]
        }

        /// An entry of an integration.
        struct Entry {
            var id: String
            var domain: String
            var title: String?
            var uniqueID: String?
            var data: JSONValue?
            var options: JSONValue?
        }

        var entries: [Entry] = []
        var devices: [Device] = []
        /// The names of areas, by their ids.
        var areas: [String: String] = [:]
        /// The ids of entities, with the id of their device and their integration.
        var entities: [(id: String, device: String, platform: String)] = []

        /// Reads the files by name.
        init(_ files: [String: JSONValue]) {
            func list(_ file: String, _ key: String) -> [[String: JSONValue]] {
                guard case .array(let values)? = files[file]?.value(at: ["data", key]) else { return [] }
                return values.compactMap { if case .object(let value) = $0 { value } else { nil } }
            }
            func pairs(_ value: JSONValue?) -> [(String, String)] {
                guard case .array(let values)? = value else { return [] }
                return values.compactMap { pair in
                    guard case .array(let texts) = pair, texts.count >= 2, let one = texts[0].scalarText,
                        let other = texts[1].scalarText
                    else { return nil }
                    return (one, other)
                }
            }
            func texts(_ value: JSONValue?) -> [String] {
                if case .array(let values)? = value { values.compactMap(\.scalarText) } else { [] }
            }
            entries = list("core.config_entries", "entries").map {
                Entry(
                    id: $0["entry_id"]?.scalarText ?? "", domain: $0["domain"]?.scalarText ?? "",
                    title: $0["title"]?.scalarText, uniqueID: $0["unique_id"]?.scalarText, data: $0["data"],
                    options: $0["options"])
            }
            devices = list("core.device_registry", "devices").map {
                Device(
                    id: $0["id"]?.scalarText ?? "", name: $0["name_by_user"]?.scalarText ?? $0["name"]?.scalarText,
                    area: $0["area_id"]?.scalarText, entries: Set(texts($0["config_entries"])),
                    identifiers: pairs($0["identifiers"]), connections: pairs($0["connections"]))
            }
            for area in list("core.area_registry", "areas") {
                if let id = area["id"]?.scalarText ?? area["area_id"]?.scalarText {
                    areas[id] = area["name"]?.scalarText ?? id
                }
            }
            entities = list("core.entity_registry", "entities").compactMap {
                guard let id = $0["entity_id"]?.scalarText, let device = $0["device_id"]?.scalarText else { return nil }
                return (id, device, $0["platform"]?.scalarText ?? "")
            }
        }
    }

    /// The integrations whose devices beacond can follow.
    static let trackers: Set = ["bermuda", "private_ble_device", "ibeacon"]

    /// Adds what Home Assistant's storage says.
    mutating func addHomeAssistant(_ files: [String: JSONValue]) {
        let storage = Storage(files)
        for missing in ["core.device_registry", "core.area_registry"] where files[missing] == nil {
            note(.head, "\(missing) is not beside core.config_entries, so that names or rooms are missing.")
        }
        readBroker(of: storage)
        var offsets: [String: Double] = [:]
        for entry in storage.entries where entry.domain == "bermuda" {
            offsets.merge(readBermuda(entry, storage)) { first, _ in first }
        }
        for entry in storage.entries where entry.domain == "private_ble_device" { readPhone(entry, storage) }
        for entry in storage.entries where entry.domain == "ibeacon" { readBeacons(entry, storage) }
        readReceivers(storage, offsets)
        let read = Self.trackers.union(["mqtt", "bluetooth", "esphome", "shelly"])
        let others = storage.entries.count { !read.contains($0.domain) }
        if others > 0 {
            note(.head, "\(others.counted("entry")) of other integrations were not looked at.")
        }
        if !beacons.isEmpty {
            note(
                .beacons,
                "Bermuda, private_ble_device and ibeacon are other platforms than MQTT: Home Assistant cannot hand their "
                    + "entities over. Only if you delete the old entity first, the new one can get its id; else it ends "
                    + "with _2.")
        }
    }

    private mutating func readBroker(of storage: Storage) {
        guard let entry = storage.entries.first(where: { $0.domain == "mqtt" }) else {
            return note(.destinations, "Home Assistant has no MQTT broker yet. Add one there, and write it here.")
        }
        var keys = ImportedKeys(entry.data, path: "mqtt")
        let host = keys.text("broker") ?? "homeassistant.local"
        var found = GuidedStart.Choice.Broker(host: host)
        found.port = port(&keys)
        (found.user, found.password) = (keys.text("username"), keys.text("password"))
        use(found)
        discoveryPrefix = keys.text("discovery_prefix")
        if keys.text("certificate") != nil {
            broker?.tls = true
            note(
                .destinations,
                "Home Assistant uses certificates for the broker. If it has its own, add tls: { ca-file: … }.")
        }
        if host == "core-mosquitto" {
            note(
                .destinations,
                "core-mosquitto is the name of the broker within Home Assistant OS. On another machine, write "
                    + "homeassistant.local, and a user that you have created in Home Assistant.")
        }
        lose(
            keys.present([
                "birth_message", "will_message", "client_id", "client_cert", "client_key", "discovery", "keepalive",
                "protocol", "tls_insecure", "transport", "ws_headers", "ws_path",
            ]), .destinations, "They are about Home Assistant's own connection.")
        finish(keys)
    }

    /// Reads the options of Bermuda.
    ///
    /// - Returns: the offsets of receivers by address, with beacond's sign.
    private mutating func readBermuda(_ entry: Storage.Entry, _ storage: Storage) -> [String: Double] {
        var keys = ImportedKeys(entry.options, path: "bermuda")
        for id in keys.list("configured_devices").compactMap(\.scalarText) {
            guard let device = ImportedDevice(id) else {
                lose(["bermuda.configured_devices (\(id))"], .beacons, Self.otherIDs)
                continue
            }
            add(beacon(device, ["bermuda"], storage))
        }
        useTimeout(keys.number("devtracker_nothome_timeout"))
        var offsets: [String: Double] = [:]
        if case .object(let values)? = keys.take("rssi_offsets") {
            for (address, value) in values {
                // Bermuda adds its offset to a reading, and beacond subtracts it.
                if let number = value.importedNumber, number != 0 { offsets[Self.address(address)] = -number }
            }
        }
        if let attenuation = keys.number("attenuation") {
            lose(
                ["bermuda.attenuation"], .calibration,
                "It is an exponent, as \"exponent: \(Self.decimal(attenuation))\" would be. beacond's default of 1.75 beyond a "
                    + "meter was measured (docs/quality.md); it changes distances, and no rooms.")
        }
        lose(
            keys.present(["ref_power"]), .calibration,
            "It is one signal at one meter for all devices. Measure yours with \"beacon calibrate\".")
        lose(
            keys.present(["max_area_radius", "max_velocity", "smoothing_samples", "update_interval"]), .places,
            "beacond finds the room by its own rules: docs/places.md.")
        lose(
            keys.present(["configured_scanners", "scanner_info", "save_and_close"]), .sources,
            "The receivers come from the registry of devices.")
        finish(keys)
        var data = ImportedKeys(entry.data, path: "bermuda.data")
        _ = data.present(["source"])
        lose(data.present(["scanners"]), .sources, "The receivers come from the registry of devices.")
        finish(data)
        return offsets
    }

    private mutating func readPhone(_ entry: Storage.Entry, _ storage: Storage) {
        var keys = ImportedKeys(entry.data, path: "private_ble_device")
        guard let device = keys.text("irk").flatMap({ ImportedDevice("irk:\($0)") }) else {
            lose(["private_ble_device.irk"], .beacons, "\(entry.title ?? "An entry") has no key of 32 digits.")
            return finish(keys)
        }
        var phone = beacon(device, ["private_ble_device", "bermuda"], storage, entry: entry.id)
        // Home Assistant's own titles only number the key.
        if phone.name == nil, let title = entry.title, !title.hasPrefix("Private BLE Device") { phone.name = title }
        add(phone)
        finish(keys)
    }

    private mutating func readBeacons(_ entry: Storage.Entry, _ storage: Storage) {
        var keys = ImportedKeys(entry.data, path: "ibeacon")
        var options = ImportedKeys(entry.options, path: "ibeacon.options")
        for device in storage.devices where device.entries.contains(entry.id) {
            for (domain, id) in device.identifiers where domain == "ibeacon" {
                // A beacon whose address is part of its id has four parts.
                let parts = id.split(separator: "_").prefix(3).joined(separator: "_")
                guard let found = ImportedDevice(parts) else {
                    lose(["ibeacon (\(id))"], .beacons, Self.otherIDs)
                    continue
                }
                add(beacon(found, ["ibeacon", "bermuda"], storage))
            }
        }
        lose(
            keys.present(["ignore_addresses", "ignore_uuids"]) + options.present(["allow_nameless_uuids"]), .beacons,
            "beacond follows only what is listed here, with or without a local name.")
        finish(keys)
        finish(options)
    }

    /// Returns a device with its name in the registry, and with the entities that it has there.
    private func beacon(
        _ device: ImportedDevice, _ domains: [String], _ storage: Storage, entry: String? = nil
    ) -> Beacon {
        let own = storage.devices.filter { known in
            if let entry, known.entries.contains(entry) { return true }
            return known.identifiers.contains { domain, id in
                Self.trackers.contains(domain) && Self.isSame(id, device)
            }
        }
        var beacon = Beacon(device: device, name: own.lazy.compactMap(\.name).first, isTracker: true)
        let ids = Set(own.map(\.id))
        let entities = storage.entities.filter { ids.contains($0.device) && Self.trackers.contains($0.platform) }
        if !entities.isEmpty {
            let names = entities.map(\.id).sorted()
            beacon.comments.append(
                "Its old entities: \(names.prefix(6).joined(separator: ", "))\(names.count > 6 ? ", …" : "").")
        }
        return beacon
    }

    private static func isSame(_ id: String, _ device: ImportedDevice) -> Bool {
        let parts = id.split(separator: "_").prefix(3).joined(separator: "_")
        return ImportedDevice(parts)?.isSame(as: device) ?? false
    }

    /// Adds the adapters and proxies that Home Assistant hears by, with the rooms and offsets of the proxies.
    private mutating func readReceivers(_ storage: Storage, _ offsets: [String: Double]) {
        var offsets = offsets
        let adapters = storage.entries.filter { $0.domain == "bluetooth" }
        let proxies = Set(adapters.compactMap { $0.data?.value(at: ["source_config_entry_id"])?.scalarText })
        for adapter in adapters where adapter.data?.value(at: ["source_config_entry_id"]) == nil {
            note(
                .sources,
                "Home Assistant uses the Bluetooth adapter \(adapter.title ?? adapter.uniqueID ?? ""), which this import "
                    + "leaves to it. For an adapter of beacond's machine, add auto to this list.")
        }
        var keys: [(key: String?, hosts: [String])] = []
        var areasMissing: [String] = []
        for entry in storage.entries where entry.domain == "esphome" {
            let devices = storage.devices.filter { $0.entries.contains(entry.id) }
            let addresses = Set(
                (devices.flatMap(\.connections).map(\.address) + [entry.uniqueID].compactMap(\.self)
                    + adapters.filter {
                        $0.data?.value(at: ["source_config_entry_id"])?.scalarText == entry.id
                    }.compactMap(\.uniqueID)).flatMap(Self.addresses))
            let own = offsets.first { addresses.contains($0.key) }
            let isProxy =
                proxies.contains(entry.id) || own != nil
                || devices.contains { $0.connections.contains { $0.kind == "bluetooth" } }
            guard isProxy, let host = entry.data?.value(at: ["host"])?.scalarText else { continue }
            let name = entry.data?.value(at: ["device_name"])?.scalarText ?? entry.title ?? host
            var key = entry.data?.value(at: ["noise_psk"])?.scalarText.flatMap { $0.isEmpty ? nil : $0 }
            if let text = key, ESPHomeSource.bytes(of: Secret(text)) == nil {
                lose(["esphome.noise_psk (\(name))"], .sources, "It is no key of 32 bytes in base64.")
                key = nil
            }
            if let index = keys.firstIndex(where: { $0.key == key }) {
                keys[index].hosts.append(host)
            } else {
                keys.append((key, [host]))
            }
            if let area = devices.lazy.compactMap(\.area).first.map({ storage.areas[$0] ?? $0 }) {
                place(name, in: area)
            } else {
                areasMissing.append(name)
            }
            if let own {
                self.offsets[name] = own.value
                offsets[own.key] = nil
            }
        }
        for (number, group) in keys.enumerated() {
            var source = Source(name: number == 0 ? "proxies" : "proxies \(number + 1)")
            source.settings["esphome"] = .object(["hosts": .array(group.hosts.map { .string($0) })])
            source.key = group.key.map { Secret($0) }
            sources.append(source)
        }
        if !keys.isEmpty {
            note(
                .sources,
                "An ESPHome proxy sends its adverts to one client. Disable the proxies in Home Assistant, or give Home "
                    + "Assistant the adverts back: docs/from-bermuda.md.")
        }
        lose(
            areasMissing.map { "esphome (\($0))" }, .places,
            "The device has no area. Add its name to the receivers of a place.")
        lose(
            storage.entries.filter { $0.domain == "shelly" }.map { "shelly (\($0.title ?? "without a title"))" },
            .sources,
            "beacond hears a Shelly by its script over MQTT, if you want that: docs/receivers.md.")
        lose(
            offsets.sorted { $0.key < $1.key }.map { "bermuda.rssi_offsets (\($0.key))" }, .calibration,
            "No ESPHome proxy has this address. Write the offset for the name that the receiver has in beacond, with the "
                + "opposite sign.")
    }

    private static func address(_ text: String) -> String { text.lowercased().filter(\.isHexDigit) }

    /// Returns an address, and that of the Bluetooth radio of an ESP32 with it: two more (Espressif, "MAC addresses").
    private static func addresses(_ text: String) -> [String] {
        let address = address(text)
        guard address.count == 12, let number = UInt64(address, radix: 16) else { return [address] }
        let digits = String(number &+ 2, radix: 16)
        return [address, String(repeating: "0", count: max(0, 12 - digits.count)) + digits]
    }
}
