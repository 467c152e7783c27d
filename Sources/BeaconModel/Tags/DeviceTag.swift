/// A phone, a watch or another device that stands in for a beacon, recognized by its key or by its fixed address.
///
/// Its sightings have a made-up identity and a made-up address, which stay the same while the device changes its own.
/// The true address never leaves the source.
package struct DeviceTag: Hashable, Sendable {
    /// The name.
    package var name: String

    /// The keys. A person with a new phone has several.
    package var keys: [IdentityResolvingKey]

    /// The address of a device that does not change it, or that the controller resolves.
    package var fixedAddress: DeviceAddress?

    /// The made-up identity: a UUID of version 8, with major and minor 0.
    package let identity: BeaconIdentity

    /// The made-up address, of the kind of a resolved one.
    package let address: DeviceAddress

    /// The made-up UUID and address follow from the first key, in either byte order, or without one from the address.
    ///
    /// - Returns: nil without key and address.
    package init?(name: String, keys: [IdentityResolvingKey], fixedAddress: DeviceAddress? = nil) {
        let seed: AES128.Block
        if let key = keys.first?.bytes {
            let other = key.reversed
            // The smaller one, so that both orders make the same identity.
            seed = (key.high, key.low) < (other.high, other.low) ? key : other
        } else if let fixedAddress {
            seed = AES128.Block(high: 0, low: fixedAddress.bits)
        } else {
            return nil
        }
        (self.name, self.keys, self.fixedAddress) = (name, keys, fixedAddress)
        let cipher = AES128(key: seed)
        // A device encrypts blocks that begin with 13 zero bytes, so these two blocks show nothing of its addresses.
        let uuid = cipher.encrypt(AES128.Block(high: Self.label, low: 1))
        let address = cipher.encrypt(AES128.Block(high: Self.label, low: 2))
        identity = BeaconIdentity(
            uuid: ProximityUUID(
                high: uuid.high & ~0xF000 | 0x8000, low: uuid.low & ~(0xC << 60) | 0x8 << 60), major: 0, minor: 0)
        // 11 in the highest bits: a static address.
        self.address = DeviceAddress(bits: address.low | 0xC000_0000_0000, kind: .randomIdentity)
    }

    /// The bytes "swbeacon".
    private static let label: UInt64 = 0x7377_6265_6163_6F6E
}

extension BeaconIdentity {
    /// True for the made-up identity of a tag.
    package var isOfTag: Bool {
        major == 0 && minor == 0 && uuid.high & 0xF000 == 0x8000 && uuid.low >> 62 == 2
    }
}

extension Sighting {
    /// Returns the sighting of a tag by an advert. It has no measured power, since such adverts have none.
    package init(_ tag: DeviceTag, time: Timestamp, receiver: ReceiverID, rssi: SignalStrength) {
        self.init(
            time: time, receiver: receiver, address: tag.address, identity: tag.identity,
            measuredPower: IBeaconFrame.unavailableMeasuredPower, rssi: rssi)
    }

    /// True for a tag's sighting: its identity and its address are made up, and no device sends them.
    package var isOfTag: Bool {
        address.kind == .randomIdentity && identity.isOfTag
    }
}
