import BeaconModel
import BeaconRadio

/// The beacon that this machine advertises, and the state of its advert.
struct AdvertisedBeacon {
    private var beacon: AdvertisingValue.Beacon?
    private var advert: OutgoingAdvert?

    /// The adverts for the radio; nil before a client requested any.
    var adverts: [OutgoingAdvert]? { beacon == nil ? nil : advert.map { [$0] } ?? [] }

    /// Returns the beacon that this machine advertises, and whether it can.
    func value(canSend: Bool) -> AdvertisingValue {
        AdvertisingValue(
            possible: canSend,
            reason: canSend
                ? nil : "no configured source is a radio; recordings and simulations cannot advertise",
            beacon: beacon)
    }

    /// Sets the beacon, or removes it.
    mutating func set(_ new: AdvertisingValue.Beacon, _ frame: IBeaconFrame) {
        beacon = new
        beacon?.state = new.enabled ? "starting" : "off"
        beacon?.reason = nil
        advert = new.enabled ? OutgoingAdvert(frame) : nil
    }

    /// Records the result of an advert.
    ///
    /// - Returns: false if another advert has replaced it.
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
