import BeaconPrograms
import BeaconService

/// For whom a region is watched.
enum WatchedRegion: Hashable, Sendable {
    /// For everybody: a region of the configuration, by its name.
    case region(String)
    /// For what keeps a named beacon's presence, by the beacon's name.
    case beacon(String)
    /// For an application that does not run, by its name for the region.
    case application(ApplicationKey, String)

    /// What people call it.
    var name: String {
        switch self {
        case .region(let name), .beacon(let name), .application(_, let name): name
        }
    }

    /// A name that no other has, by which sessions know it.
    var label: String {
        switch self {
        case .region(let name): "region \(name)"
        case .beacon(let name): "beacon \(name)"
        case .application(let key, let identifier):
            "application \(key.account.userID) \(key.identity.name) \(identifier)"
        }
    }
}
