public import BeaconModel

/// An advert on the air, with its sender's scan response.
public struct AirPacket: Hashable, Sendable {
    /// The form of the advert.
    public var form: AdvertisingForm

    /// The sender's address.
    public var address: DeviceAddress

    /// The AD structures.
    public var data: [UInt8]

    /// The AD structures of the scan response.
    public var scanResponse: [UInt8]

    /// Creates an advert from its parts.
    public init(form: AdvertisingForm, address: DeviceAddress, data: [UInt8], scanResponse: [UInt8] = []) {
        self.form = form
        self.address = address
        self.data = data
        self.scanResponse = scanResponse
    }
}
