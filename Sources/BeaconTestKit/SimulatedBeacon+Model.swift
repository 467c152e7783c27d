internal import BeaconModel
import Foundation

extension SimulatedBeacon {
    /// The identity that the beacon advertises.
    var identity: BeaconIdentity {
        let (high, low) = withUnsafeBytes(of: uuid.uuid) { bytes in
            (
                UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
                UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
            )
        }
        return BeaconIdentity(uuid: ProximityUUID(high: high, low: low), major: major, minor: minor)
    }

    /// Creates the beacon that a device is while it sends a frame.
    init(_ frame: IBeaconFrame, at position: Position) {
        var bytes: uuid_t = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
        withUnsafeMutableBytes(of: &bytes) { buffer in
            buffer.storeBytes(of: frame.identity.uuid.high.bigEndian, as: UInt64.self)
            buffer.storeBytes(of: frame.identity.uuid.low.bigEndian, toByteOffset: 8, as: UInt64.self)
        }
        self.init(
            uuid: UUID(uuid: bytes), major: frame.identity.major, minor: frame.identity.minor, at: position,
            measuredPower: frame.measuredPower)
    }
}
