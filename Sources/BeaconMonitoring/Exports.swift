// The types of a session's configuration and events.
@_exported public import BeaconEngine
@_exported public import BeaconModel
@_exported public import BeaconRadio
