import VirtualController

/// An advert as one receiver hears it.
struct HeardAdvert: Sendable {
    /// Which receiver, counted from 0.
    var receiver: Int

    var packet: AirPacket

    /// In dBm.
    var rssi: Int8
}
