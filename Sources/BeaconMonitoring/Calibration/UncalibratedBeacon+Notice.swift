import BeaconEngine
import BeaconModel
import BeaconRadio

extension RadioNotice {
    /// Creates the notice about an uncalibrated beacon.
    init(_ beacon: UncalibratedBeacon, by receiver: String) {
        let cause =
            switch beacon.fault {
            case .missing: "Its adverts carry no measured power"
            case .impossible(let power): "It claims \(power) dBm at 1 m, which is impossible"
            case .changing: "Its measured power changes from advert to advert"
            }
        let end = beacon.isLast ? " Further uncalibrated beacons are not reported for a day." : ""
        self.init(
            .uncalibrated, adapter: receiver,
            "\(beacon.identity) is uncalibrated: run 'beacon calibrate'. \(cause); distances assume "
                + "\(IBeaconFrame.defaultMeasuredPower) dBm.\(end)")
    }
}
