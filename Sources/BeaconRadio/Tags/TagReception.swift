/// How a receiver passes on the adverts of devices that are no beacons, among which tags are recognized.
package enum TagReception: Hashable, Sendable {
    /// It passes on all adverts.
    case all
    /// It passes on what its own filter lets through.
    case filtered
    /// It drops random addresses unless its settings say otherwise.
    case optional
    /// It recognizes tags itself, with its own keys.
    case relayed
    /// It passes on only iBeacons.
    case none

    /// Returns `yes`, `depends` or `no`, and for people what it depends on.
    package var words: (hears: String, condition: String?) {
        switch self {
        case .all: ("yes", nil)
        case .filtered: ("depends", "if its own filter passes on all devices")
        case .optional: ("depends", "OpenMQTTGateway with randommacs, Theengs Gateway without its own identities")
        case .relayed: ("depends", "if the relay has the keys (--tags)")
        case .none: ("no", "it passes on only iBeacons")
        }
    }
}
