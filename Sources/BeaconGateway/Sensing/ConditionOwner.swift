import BeaconApplications
import BeaconModel

/// The owner of a monitored condition.
enum ConditionOwner: Hashable, Sendable {
    /// A region of the configuration, by its name.
    case region(String)
    /// The presence of a named beacon, by the beacon's name.
    case beacon(String)
    /// A terminated application, with its name for the region or condition.
    case application(ApplicationIdentity, LaunchTrigger.ID)

    /// The name for logs and events.
    var name: String {
        switch self {
        case .region(let name), .beacon(let name): name
        case .application(_, let id): "\(id)"
        }
    }

    /// True for a configured region.
    var isRegion: Bool { if case .region = self { true } else { false } }

    /// True for regions and beacons of the configuration, false for applications.
    var isConfigured: Bool { if case .application = self { false } else { true } }

    /// A name that is unique among owners: its key in the presence.
    var label: String {
        switch self {
        case .region(let name): "region \(name)"
        case .beacon(let name): "beacon \(name)"
        case .application(let identity, let id): "application \(identity.name) \(id)"
        }
    }

    /// Creates the owner of a ``label``; nil for an application's, which belongs to one machine.
    init?(label: String) {
        guard let space = label.firstIndex(of: " ") else { return nil }
        let name = String(label[label.index(after: space)...])
        switch label[..<space] {
        case "region": self = .region(name)
        case "beacon": self = .beacon(name)
        default: return nil
        }
    }
}
