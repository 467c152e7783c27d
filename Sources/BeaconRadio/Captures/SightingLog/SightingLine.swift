import BeaconModel

/// What one line of a sighting log says.
struct SightingLine {
    var time: Timestamp?
    var receiver: String?
    var address: DeviceAddress
    var identity: BeaconIdentity
    var measuredPower: Int8?
    var rssi: SignalStrength
}
