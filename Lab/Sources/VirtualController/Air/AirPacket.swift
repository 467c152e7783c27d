public import BeaconModel

/// An advert on the air, with the scan response that its sender would give.
public struct AirPacket: Hashable, Sendable {
    /// In what form it is sent.
    public var form: AdvertisingForm

    /// The address it comes from.
    public var address: DeviceAddress

    /// The AD structures.
    public var data: [UInt8]

    /// The AD structures of the scan response.
    public var scanResponse: [UInt8]

    /// An advert from its parts.
    public init(form: AdvertisingForm, address: DeviceAddress, data: [UInt8], scanResponse: [UInt8] = []) {
        self.form = form
        self.address = address
        self.data = data
        self.scanResponse = scanResponse
    }
}
