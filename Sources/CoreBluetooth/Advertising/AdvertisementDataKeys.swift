// The strings are what independent implementations of Core Bluetooth and their tests agree on.

/// The name of the device: a `String`. May be advertised.
public let CBAdvertisementDataLocalNameKey = "kCBAdvDataLocalName"

/// What the manufacturer put in: `Data`.
public let CBAdvertisementDataManufacturerDataKey = "kCBAdvDataManufacturerData"

/// Data of services: a dictionary from ``CBUUID`` to `Data`.
public let CBAdvertisementDataServiceDataKey = "kCBAdvDataServiceData"

/// The services of the device: an array of ``CBUUID``. May be advertised.
public let CBAdvertisementDataServiceUUIDsKey = "kCBAdvDataServiceUUIDs"

/// The services that found no room in the advert: an array of ``CBUUID``.
public let CBAdvertisementDataOverflowServiceUUIDsKey = "kCBAdvDataHashedServiceUUIDs"

/// The power with which the device sends, in dBm: an `NSNumber`.
public let CBAdvertisementDataTxPowerLevelKey = "kCBAdvDataTxPowerLevel"

/// Whether the device lets others connect: an `NSNumber`.
public let CBAdvertisementDataIsConnectable = "kCBAdvDataIsConnectable"

/// The services that the device looks for: an array of ``CBUUID``.
public let CBAdvertisementDataSolicitedServiceUUIDsKey = "kCBAdvDataSolicitedServiceUUIDs"
