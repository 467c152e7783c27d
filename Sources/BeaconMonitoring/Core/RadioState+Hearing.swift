package import BeaconRadio

extension ReceiverStatus {
    /// The hearing of a receiver with this status.
    package var hearing: MonitoringCore.Hearing {
        let hearing = state.hearing
        return hearing == .hearing && isDoubtful ? .doubtful : hearing
    }
}

extension RadioState {
    /// The hearing of a radio in this state.
    package var hearing: MonitoringCore.Hearing {
        switch self {
        case .poweredOn: .hearing
        case .unknown, .resetting: .interrupted
        case .unsupported, .unauthorized, .poweredOff: .lost
        }
    }

    /// The reason why the radio hears nothing, as the subject and verb of a sentence; nil if the radio works.
    package var outage: String? {
        switch self {
        case .unknown, .poweredOn: nil
        case .resetting: "the radio is being reset"
        case .unsupported: "the radio is missing"
        case .unauthorized: "this process may not use the radio"
        case .poweredOff: "the radio is switched off"
        }
    }
}
