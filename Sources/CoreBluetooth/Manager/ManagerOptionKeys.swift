// Apple's documents give these keys no values, and apps use them by name only. Each is its own name here.

/// The key of an alert that Bluetooth is off when a peripheral manager is made: an `NSNumber`. Without effect here.
public let CBPeripheralManagerOptionShowPowerAlertKey = "CBPeripheralManagerOptionShowPowerAlertKey"

/// The name by which iOS restores a peripheral manager: a `String`. Nothing is restored here.
public let CBPeripheralManagerOptionRestoreIdentifierKey = "CBPeripheralManagerOptionRestoreIdentifierKey"

/// The services of a restored peripheral manager. Nothing is restored here.
public let CBPeripheralManagerRestoredStateServicesKey = "CBPeripheralManagerRestoredStateServicesKey"

/// The advertisement of a restored peripheral manager. Nothing is restored here.
public let CBPeripheralManagerRestoredStateAdvertisementDataKey =
    "CBPeripheralManagerRestoredStateAdvertisementDataKey"

/// The key of an alert that Bluetooth is off when a central manager is made: an `NSNumber`. Without effect here.
public let CBCentralManagerOptionShowPowerAlertKey = "CBCentralManagerOptionShowPowerAlertKey"

/// The name by which iOS restores a central manager: a `String`. Nothing is restored here.
public let CBCentralManagerOptionRestoreIdentifierKey = "CBCentralManagerOptionRestoreIdentifierKey"

/// The peripherals of a restored central manager. Nothing is restored here.
public let CBCentralManagerRestoredStatePeripheralsKey = "CBCentralManagerRestoredStatePeripheralsKey"

/// The services that a restored central manager looked for. Nothing is restored here.
public let CBCentralManagerRestoredStateScanServicesKey = "CBCentralManagerRestoredStateScanServicesKey"

/// The options with which a restored central manager scanned. Nothing is restored here.
public let CBCentralManagerRestoredStateScanOptionsKey = "CBCentralManagerRestoredStateScanOptionsKey"

/// The key for reporting each advert of a device: an `NSNumber`.
public let CBCentralManagerScanOptionAllowDuplicatesKey = "CBCentralManagerScanOptionAllowDuplicatesKey"

/// The solicited services to look for: an array of ``CBUUID``.
public let CBCentralManagerScanOptionSolicitedServiceUUIDsKey = "CBCentralManagerScanOptionSolicitedServiceUUIDsKey"

/// The key of an alert about a connection: an `NSNumber`. Without effect here.
public let CBConnectPeripheralOptionNotifyOnConnectionKey = "CBConnectPeripheralOptionNotifyOnConnectionKey"

/// The key of an alert about a connection's end: an `NSNumber`. Without effect here.
public let CBConnectPeripheralOptionNotifyOnDisconnectionKey = "CBConnectPeripheralOptionNotifyOnDisconnectionKey"

/// The key of an alert about notifications: an `NSNumber`. Without effect here.
public let CBConnectPeripheralOptionNotifyOnNotificationKey = "CBConnectPeripheralOptionNotifyOnNotificationKey"

/// The key for connecting again by itself: an `NSNumber`. Without effect here.
public let CBConnectPeripheralOptionEnableAutoReconnect = "CBConnectPeripheralOptionEnableAutoReconnect"

/// The key for bridging profiles of classic Bluetooth: an `NSNumber`. Without effect here.
public let CBConnectPeripheralOptionEnableTransportBridgingKey = "CBConnectPeripheralOptionEnableTransportBridgingKey"

/// The key for a device that needs the notification centre: an `NSNumber`. Without effect here.
public let CBConnectPeripheralOptionRequiresANCS = "CBConnectPeripheralOptionRequiresANCS"

/// The seconds to wait before connecting: an `NSNumber`. Without effect here.
public let CBConnectPeripheralOptionStartDelayKey = "CBConnectPeripheralOptionStartDelayKey"

/// The key for access to a device's media: an `NSNumber`. Without effect here.
public let CBCentralManagerOptionDeviceAccessForMedia = "CBCentralManagerOptionDeviceAccessForMedia"
