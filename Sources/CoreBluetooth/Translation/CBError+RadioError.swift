internal import BeaconRadio

extension CBError {
    /// Why a radio did not do what it was asked to. Core Bluetooth has no code for most of it, so that the radio's own
    /// words are the error's localized description.
    init(_ error: RadioError) {
        self.init(
            error.code == .unsupported ? .operationNotSupported : .unknown,
            userInfo: [NSLocalizedDescriptionKey: error.message])
    }
}
