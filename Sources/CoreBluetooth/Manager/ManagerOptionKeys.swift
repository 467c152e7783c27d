// Apple does not document the values of these keys, and apps use the constants only. Here each value is its name.

/// The key for an alert if Bluetooth is off when a peripheral manager is created: an `NSNumber`. No effect here.
public let CBPeripheralManagerOptionShowPowerAlertKey = "CBPeripheralManagerOptionShowPowerAlertKey"

/// The name by which iOS restores a peripheral manager: a `String`. Nothing is restored here.
public let CBPeripheralManagerOptionRestoreIdentifierKey = "CBPeripheralManagerOptionRestoreIdentifierKey"

/// The services of a restored peripheral manager. Nothing is restored here.
public let CBPeripheralManagerRestoredStateServicesKey = "CBPeripheralManagerRestoredStateServicesKey"

/// The advertisement of a restored peripheral manager. Nothing is restored here.
public let CBPeripheralManagerRestoredStateAdvertisementDataKey =
    "CBPeripheralManagerRestoredStateAdvertisementDataKey"

/// The key for an alert if Bluetooth is off when a central manager is created: an `NSNumber`. No effect here.
public let CBCentralManagerOptionShowPowerAlertKey = "CBCentralManagerOptionShowPowerAlertKey"

/// The name by which iOS restores a central manager: a `String`. Nothing is restored here.
public let CBCentralManagerOptionRestoreIdentifierKey = "CBCentralManagerOptionRestoreIdentifierKey"

/// The peripherals of a restored central manager. Nothing is restored here.
public let CBCentralManagerRestoredStatePeripheralsKey = "CBCentralManagerRestoredStatePeripheralsKey"

/// The services that a restored central manager scanned for. Nothing is restored here.
public let CBCentralManagerRestoredStateScanServicesKey = "CBCentralManagerRestoredStateScanServicesKey"

/// The options with which a restored central manager scanned. Nothing is restored here.
public let CBCentralManagerRestoredStateScanOptionsKey = "CBCentralManagerRestoredStateScanOptionsKey"

/// The key for reporting each advert of a device: an `NSNumber`.
public let CBCentralManagerScanOptionAllowDuplicatesKey = "CBCentralManagerScanOptionAllowDuplicatesKey"

/// The solicited services to scan for: an array of ``CBUUID``.
public let CBCentralManagerScanOptionSolicitedServiceUUIDsKey = "CBCentralManagerScanOptionSolicitedServiceUUIDsKey"

/// The key for an alert about a connection: an `NSNumber`. No effect here.
public let CBConnectPeripheralOptionNotifyOnConnectionKey = "CBConnectPeripheralOptionNotifyOnConnectionKey"

/// The key for an alert about a disconnection: an `NSNumber`. No effect here.
public let CBConnectPeripheralOptionNotifyOnDisconnectionKey = "CBConnectPeripheralOptionNotifyOnDisconnectionKey"

/// The key for an alert about notifications: an `NSNumber`. No effect here.
public let CBConnectPeripheralOptionNotifyOnNotificationKey = "CBConnectPeripheralOptionNotifyOnNotificationKey"

/// The key for automatic reconnection: an `NSNumber`. No effect here.
public let CBConnectPeripheralOptionEnableAutoReconnect = "CBConnectPeripheralOptionEnableAutoReconnect"

/// The key for bridging classic Bluetooth profiles: an `NSNumber`. No effect here.
public let CBConnectPeripheralOptionEnableTransportBridgingKey = "CBConnectPeripheralOptionEnableTransportBridgingKey"

/// The key for a device that requires the notification center: an `NSNumber`. No effect here.
public let CBConnectPeripheralOptionRequiresANCS = "CBConnectPeripheralOptionRequiresANCS"

/// The key for a delay before connecting, in seconds: an `NSNumber`. No effect here.
public let CBConnectPeripheralOptionStartDelayKey = "CBConnectPeripheralOptionStartDelayKey"

/// The key for access to a device's media: an `NSNumber`. No effect here.
public let CBCentralManagerOptionDeviceAccessForMedia = "CBCentralManagerOptionDeviceAccessForMedia"
