internal import BeaconRadio

extension RadioState {
    /// Whether advertising is over in this state, and not merely paused.
    ///
    /// Apple's sources do not agree: the header calls it paused below powered on and stopped below powered off, the article
    /// on the peripheral role says that it stops. Here it pauses while the radio is on its way back by itself, and stops
    /// when somebody would have to bring it back.
    var endsAdvertising: Bool {
        switch self {
        case .unsupported, .unauthorized, .poweredOff: true
        case .unknown, .resetting, .poweredOn: false
        }
    }
}
