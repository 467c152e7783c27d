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

    /// The frame that the beacon advertises.
    var frame: IBeaconFrame { IBeaconFrame(identity: identity, measuredPower: measuredPower) }
}
