internal import BeaconRadio

extension CBManagerState {
    /// What a radio can do, by Apple's names. The two have the same cases.
    init(_ state: RadioState) {
        self =
            switch state {
            case .unknown: .unknown
            case .resetting: .resetting
            case .unsupported: .unsupported
            case .unauthorized: .unauthorized
            case .poweredOff: .poweredOff
            case .poweredOn: .poweredOn
            }
    }
}
