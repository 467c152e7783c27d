internal import BeaconModel

/// What is to be sent, as read from a dictionary of advertisement data.
struct Advertisement {
    /// The frame; nil where the dictionary has none that could be sent.
    var frame: IBeaconFrame?

    /// What of the dictionary is not sent, and why, in sentences for the log.
    var remarks: [String] = []

    /// Reads a dictionary. Its entries are independent of one another: what cannot be sent keeps nothing else from it.
    init(_ dictionary: [String: Any]) {
        // Dictionaries have no order, and a log should read the same each time.
        for (key, value) in dictionary.sorted(by: { $0.key < $1.key }) {
            switch key {
            case BeaconAdvertisementData.key:
                frame = (value as? Data).flatMap { IBeaconFrame(beaconData: $0) }
                if frame == nil {
                    remarks.append(
                        "the value of \(key) is not the \(BeaconAdvertisementData.count) bytes of a beacon; take it from "
                            + "CLBeaconRegion.peripheralData(withMeasuredPower:)")
                }
            case CBAdvertisementDataLocalNameKey, CBAdvertisementDataServiceUUIDsKey:
                remarks.append("\(key) is not sent: only iBeacon frames are")
            default:
                remarks.append("\(key) is not a key that can be advertised")
            }
        }
    }
}
