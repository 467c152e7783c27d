import BeaconService

extension SourceSpecification {
    /// Whether it is a radio of this machine.
    var isRadio: Bool {
        switch self {
        case .auto, .hci, .bluez: true
        case .file, .simulation: false
        }
    }
}
