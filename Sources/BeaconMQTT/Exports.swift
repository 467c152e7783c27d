// The connection and its settings.
@_exported public import BeaconBroker
