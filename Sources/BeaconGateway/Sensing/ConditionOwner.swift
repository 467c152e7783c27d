import BeaconApplications
import BeaconModel

/// The owner of a condition, for which it is monitored.
enum ConditionOwner: Hashable, Sendable {
    /// A region of the configuration, by its name.
    case region(String)
    /// The presence of a named beacon, by the beacon's name.
    case beacon(String)
    /// An application that does not run, by its name for the region or condition.
    case application(ApplicationIdentity, LaunchTrigger.ID)

    /// The name for logs and events.
    var name: String {
        switch self {
        case .region(let name), .beacon(let name): name
        case .application(_, let id): "\(id)"
        }
    }

    /// True for a region of the configuration.
    var isRegion: Bool { if case .region = self { true } else { false } }

    /// True for what the configuration has, and no application of this machine.
    var isConfigured: Bool { if case .application = self { false } else { true } }

    /// A name that no other owner has: its key in the presence.
    var label: String {
        switch self {
        case .region(let name): "region \(name)"
        case .beacon(let name): "beacon \(name)"
        case .application(let identity, let id): "application \(identity.name) \(id)"
        }
    }

    /// The owner of a label that ``label`` gives; nil for an application's, which is of one machine.
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
