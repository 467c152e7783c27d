/// What `CLBeaconRegion.peripheralData(withMeasuredPower:)` puts in a dictionary of advertisement data. The two modules
/// agree on it and nothing else, as Apple's do.
enum BeaconAdvertisementData {
    /// The key. Apple has no public name for it.
    static let key = "kCBAdvDataAppleBeaconKey"

    /// UUID, major value, minor value and measured power.
    static let count = 21
}
