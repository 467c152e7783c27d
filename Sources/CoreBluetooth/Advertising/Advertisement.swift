internal import BeaconModel

/// An advert to send, created from a dictionary of advertisement data.
struct Advertisement {
    /// The advert; nil if the dictionary has nothing that can be sent.
    var advert: OutgoingAdvert?

    /// The dictionary's entries that are not sent, with the reasons, as sentences for the log.
    var remarks: [String] = []

    /// Reads a dictionary. Its entries are independent: an entry that cannot be sent does not affect the others.
    init(_ dictionary: [String: Any]) {
        var advert = OutgoingAdvert(frame: nil, localName: nil, services: [])
        // Dictionaries have no order, and the log should be the same each time.
        for (key, value) in dictionary.sorted(by: { $0.key < $1.key }) {
            switch key {
            case BeaconAdvertisementData.key:
                advert.frame = (value as? Data).flatMap { IBeaconFrame(beaconData: $0) }
                if advert.frame == nil {
                    remarks.append(
                        "the value of \(key) is not the \(BeaconAdvertisementData.count) bytes of a beacon; use "
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

/// The dictionary entry that `CLBeaconRegion.peripheralData(withMeasuredPower:)` creates. It is the only thing that the
/// two modules share, as in Apple's modules.
enum BeaconAdvertisementData {
    /// The key. Apple has no public name for it.
    static let key = "kCBAdvDataAppleBeaconKey"

    /// The size of UUID, major value, minor value and measured power in bytes.
    static let count = 21
}

extension IBeaconFrame {
    /// Creates a frame from the 21 bytes that Core Location passes to Core Bluetooth: UUID, major and minor value, most
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

// Independent implementations of Core Bluetooth and their tests agree on these strings.

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

/// The transmit power in dBm: an `NSNumber`.
public let CBAdvertisementDataTxPowerLevelKey = "kCBAdvDataTxPowerLevel"

/// A Boolean value indicating whether the device is connectable: an `NSNumber`.
public let CBAdvertisementDataIsConnectable = "kCBAdvDataIsConnectable"

/// The services that the device looks for: an array of ``CBUUID``.
public let CBAdvertisementDataSolicitedServiceUUIDsKey = "kCBAdvDataSolicitedServiceUUIDs"
