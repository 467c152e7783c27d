// The types that a session's configuration and events use.
@_exported public import BeaconEngine
@_exported public import BeaconModel
@_exported public import BeaconRadio
