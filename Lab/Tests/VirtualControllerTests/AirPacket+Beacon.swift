import BeaconModel
import VirtualController

extension AirPacket {
    /// Creates an iBeacon advert as a beacon of Bluetooth 4 sends it.
    static func beacon(
        address: UInt64 = 0xC011_2233_4455, kind: AdvertisingReport.Kind = .nonConnectable, scanResponse: [UInt8] = []
    ) -> AirPacket {
        let identity = BeaconIdentity(
            uuid: ProximityUUID(high: 0xE2C5_6DB5_DFFB_48D2, low: 0xB060_D0F5_A710_96E0), major: 1, minor: 2)
        return AirPacket(
            form: AdvertisingForm(kind), address: DeviceAddress(bits: address, kind: .random),
            data: IBeaconFrame(identity: identity, measuredPower: -59).advert, scanResponse: scanResponse)
    }
}
