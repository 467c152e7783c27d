// Assigned by the Bluetooth SIG (Assigned Numbers, descriptors).

/// The descriptor that holds further properties of a characteristic.
public let CBUUIDCharacteristicExtendedPropertiesString = "2900"

/// The descriptor that says what a characteristic is, for people.
public let CBUUIDCharacteristicUserDescriptionString = "2901"

/// The descriptor by which a client asks for notifications.
public let CBUUIDClientCharacteristicConfigurationString = "2902"

/// The descriptor by which a server is made to broadcast.
public let CBUUIDServerCharacteristicConfigurationString = "2903"

/// The descriptor that says how to show a characteristic's value.
public let CBUUIDCharacteristicFormatString = "2904"

/// The descriptor that puts several formats together.
public let CBUUIDCharacteristicAggregateFormatString = "2905"
