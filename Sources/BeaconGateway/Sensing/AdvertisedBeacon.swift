import BeaconModel
import BeaconRadio

/// The beacon that this machine is, and what became of its frame.
struct AdvertisedBeacon {
    private var beacon: AdvertisingValue.Beacon?
    private var frame: IBeaconFrame?

    /// The frames for the radio; nil before a client asked for any.
    var frames: [IBeaconFrame]? { beacon == nil ? nil : frame.map { [$0] } ?? [] }

    /// Returns what this machine sends, and whether it can.
    func value(canSend: Bool) -> AdvertisingValue {
        AdvertisingValue(
            possible: canSend,
            reason: canSend
                ? nil : "no source of the configuration is a radio; recordings and simulations cannot send",
            beacon: beacon)
    }

    /// Sets the beacon to be, or to be no longer.
    mutating func set(_ new: AdvertisingValue.Beacon, _ frame: IBeaconFrame) {
        beacon = new
        beacon?.state = new.enabled ? "starting" : "off"
        beacon?.reason = nil
        self.frame = new.enabled ? frame : nil
    }

    /// Notes what became of a frame.
    ///
    /// - Returns: false where it is no longer the frame.
    mutating func receive(_ frame: IBeaconFrame, _ result: Result<Void, RadioError>) -> Bool {
        guard frame == self.frame else { return false }
        switch result {
        case .success:
            beacon?.state = "on"
            beacon?.reason = nil
        case .failure(let error):
            beacon?.state = "failed"
            beacon?.reason = "\(error)"
        }
        return true
    }
}
