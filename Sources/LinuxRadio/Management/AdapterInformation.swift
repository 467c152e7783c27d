import BeaconModel

/// What the kernel tells of an adapter to anybody who asks.
struct AdapterInformation: Hashable {
    /// What an adapter can do, or does (BlueZ, doc/mgmt-api.txt, Read Controller Information).
    struct Settings: OptionSet, Hashable {
        let rawValue: UInt32

        /// It is switched on.
        static let powered = Settings(rawValue: 1 << 0)
        /// Bluetooth Low Energy, which beacons use.
        static let lowEnergy = Settings(rawValue: 1 << 9)
    }

    /// The kernel's number for it.
    var index: UInt16

    /// Its own address; 0 for a controller that has none.
    var addressBits: UInt64

    /// The version of the controller's HCI by its number (Bluetooth Assigned Numbers, 2.1).
    var version: UInt8

    /// What it can do.
    var supported: Settings

    /// What it does.
    var current: Settings

    /// `hci0`.
    var name: String { "hci\(index)" }

    /// Its own address.
    var address: DeviceAddress { DeviceAddress(bits: addressBits, kind: .public) }

    /// The version as people know it, `5.2`; nil for one that is newer than this table.
    var versionName: String? {
        let names = [
            "1.0b", "1.1", "1.2", "2.0", "2.1", "3.0", "4.0", "4.1", "4.2", "5.0", "5.1", "5.2", "5.3", "5.4", "6.0",
        ]
        return names.indices.contains(Int(version)) ? names[Int(version)] : nil
    }
}
