import BeaconModel
import BeaconRadio

/// The beacon that this machine is, and what became of its advert.
struct AdvertisedBeacon {
    private var beacon: AdvertisingValue.Beacon?
    private var advert: OutgoingAdvert?

    /// The adverts for the radio; nil before a client asked for any.
    var adverts: [OutgoingAdvert]? { beacon == nil ? nil : advert.map { [$0] } ?? [] }

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
        advert = new.enabled ? OutgoingAdvert(frame) : nil
    }

    /// Notes what became of an advert.
    ///
    /// - Returns: false where it is no longer the one that is sent.
    mutating func receive(_ advert: OutgoingAdvert, _ result: Result<Void, RadioError>) -> Bool {
        guard advert == self.advert else { return false }
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
