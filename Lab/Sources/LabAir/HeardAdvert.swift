import VirtualController

/// An advert as one receiver hears it.
struct HeardAdvert: Sendable {
    /// The receiver, counted from 0.
    var receiver: Int

    var packet: AirPacket

    /// The signal strength in dBm.
    var rssi: Int8
}
