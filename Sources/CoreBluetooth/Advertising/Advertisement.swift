internal import BeaconModel

/// The advert to send, as read from a dictionary of advertisement data.
struct Advertisement {
    /// The advert; nil where the dictionary has nothing that could be sent.
    var advert: OutgoingAdvert?

    /// The entries of the dictionary that are not sent, with the reason, as sentences for the log.
    var remarks: [String] = []

    /// Reads a dictionary. Its entries are independent of one another: what cannot be sent keeps nothing else from it.
    init(_ dictionary: [String: Any]) {
        var advert = OutgoingAdvert(frame: nil, localName: nil, services: [])
        // Dictionaries have no order, and a log should read the same each time.
        for (key, value) in dictionary.sorted(by: { $0.key < $1.key }) {
            switch key {
            case BeaconAdvertisementData.key:
                advert.frame = (value as? Data).flatMap { IBeaconFrame(beaconData: $0) }
                if advert.frame == nil {
                    remarks.append(
                        "the value of \(key) is not the \(BeaconAdvertisementData.count) bytes of a beacon; take it from "
                            + "CLBeaconRegion.peripheralData(withMeasuredPower:)")
                }
            case CBAdvertisementDataLocalNameKey:
                advert.localName = value as? String
                if advert.localName == nil { remarks.append("the value of \(key) is not a String") }
            case CBAdvertisementDataServiceUUIDsKey:
                let services = value as? [CBUUID]
                advert.services = (services ?? []).compactMap(\.service)
                if services == nil { remarks.append("the value of \(key) is not an array of CBUUID") }
            default:
                remarks.append("\(key) is not a key that can be advertised")
            }
        }
        guard advert.frame != nil || advert.localName?.isEmpty == false || !advert.services.isEmpty else { return }
        self.advert = advert
        if !advert.isWhole {
            remarks.append(
                "not all of the name and the services fits into the 31 bytes of an advert and of its scan response")
        }
    }
}

/// The entry that `CLBeaconRegion.peripheralData(withMeasuredPower:)` makes in a dictionary of advertisement data. The
/// two modules agree on it and nothing else, as Apple's do.
enum BeaconAdvertisementData {
    /// The key. Apple has no public name for it.
    static let key = "kCBAdvDataAppleBeaconKey"

    /// UUID, major value, minor value and measured power.
    static let count = 21
}

extension IBeaconFrame {
    /// The frame of the 21 bytes that Core Location hands to Core Bluetooth: UUID, major and minor value, most
    /// significant byte first, and the measured power.
    ///
    /// - Returns: nil for any other number of bytes.
    init?(beaconData: Data) {
        guard beaconData.count == BeaconAdvertisementData.count else { return nil }
        let bytes = [UInt8](beaconData)
        func number(_ range: Range<Int>) -> UInt64 { bytes[range].reduce(0) { $0 << 8 | UInt64($1) } }
        self.init(
            identity: BeaconIdentity(
                uuid: ProximityUUID(high: number(0..<8), low: number(8..<16)),
                major: UInt16(number(16..<18)), minor: UInt16(number(18..<20))),
            measuredPower: Int8(bitPattern: bytes[20]))
    }
}

// The strings are what independent implementations of Core Bluetooth and their tests agree on.

/// The name of the device: a `String`. May be advertised.
public let CBAdvertisementDataLocalNameKey = "kCBAdvDataLocalName"

/// The manufacturer's data: `Data`.
public let CBAdvertisementDataManufacturerDataKey = "kCBAdvDataManufacturerData"

/// Data of services: a dictionary from ``CBUUID`` to `Data`.
public let CBAdvertisementDataServiceDataKey = "kCBAdvDataServiceData"

/// The services of the device: an array of ``CBUUID``. May be advertised.
public let CBAdvertisementDataServiceUUIDsKey = "kCBAdvDataServiceUUIDs"

/// The services that do not fit into the advert: an array of ``CBUUID``.
public let CBAdvertisementDataOverflowServiceUUIDsKey = "kCBAdvDataHashedServiceUUIDs"

/// The power with which the device sends, in dBm: an `NSNumber`.
public let CBAdvertisementDataTxPowerLevelKey = "kCBAdvDataTxPowerLevel"

/// A Boolean value that says that the device lets others connect: an `NSNumber`.
public let CBAdvertisementDataIsConnectable = "kCBAdvDataIsConnectable"

/// The services that the device looks for: an array of ``CBUUID``.
public let CBAdvertisementDataSolicitedServiceUUIDsKey = "kCBAdvDataSolicitedServiceUUIDs"
