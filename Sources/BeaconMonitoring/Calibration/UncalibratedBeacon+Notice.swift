import BeaconEngine
import BeaconModel
import BeaconRadio

extension RadioNotice {
    /// The notice of a beacon whose power at one metre is not known.
    init(_ beacon: UncalibratedBeacon, by receiver: String) {
        let cause =
            switch beacon.fault {
            case .missing: "Its adverts come without a measured power"
            case .impossible(let power): "No beacon can have the \(power) dBm at 1 m that it claims"
            case .changing: "The measured power that it claims changes from advert to advert"
            }
        let end = beacon.isLast ? " Further uncalibrated beacons are not reported." : ""
        self.init(
            .uncalibrated, adapter: receiver,
            "\(beacon.identity) is uncalibrated: run 'beacon calibrate'. \(cause); distances assume "
                + "\(IBeaconFrame.defaultMeasuredPower) dBm.\(end)")
    }
}
