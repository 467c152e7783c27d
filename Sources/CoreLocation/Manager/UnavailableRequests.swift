internal import BeaconApplications
import Foundation

/// A service that needs positions or a compass, which are not available here.
enum LocationService {
    /// Continuous positions.
    case positions
    /// One position.
    case onePosition
    /// Large changes of position.
    case significantChanges
    /// Visits.
    case visits
    /// Headings. They need no permission.
    case headings

    /// Returns the reason why the service delivers nothing; nil while the app's permission is undecided.
    func failure(_ status: AuthorizationStatus) -> CLError.Code? {
        if self == .headings { return .headingFailure }
        switch status {
        case .notDetermined: return nil
        case .denied, .restricted: return .denied
        case .whenInUse, .always: return .locationUnknown
        }
    }
}

/// A manager's requests for unavailable services and regions, until they are answered or stopped.
///
/// Permission is checked first. A request waits while the permission is undecided, and fails with `denied` if the app
/// was refused. Only an app with permission receives the reason why nothing can be delivered. A continuing request is
/// answered again if another decision changes the reason.
struct UnavailableRequests {
    /// A request about a region that the core cannot monitor or range.
    struct RegionRequest: Hashable {
        enum Kind: Hashable {
            case monitoring, ranging
        }

        var kind: Kind
        var type: CLRegion.Kind
        var identifier: String

        init(_ kind: Kind, _ region: CLRegion) {
            self.kind = kind
            type = region.kind
            identifier = region.identifier
        }
    }

    private var services: [(service: LocationService, known: CLError.Code?)] = []
    private var regions: [RegionRequest] = []

    mutating func start(_ service: LocationService) {
        stop(service)
        services.append((service, nil))
    }

    mutating func stop(_ service: LocationService) { services.removeAll { $0.service == service } }

    /// Returns the failures that the app has not received yet, in the order of its requests.
    mutating func takeFailures(_ status: AuthorizationStatus) -> [CLError.Code] {
        var result: [CLError.Code] = []
        for place in services.indices {
            guard let failure = services[place].service.failure(status), failure != services[place].known else {
                continue
            }
            services[place].known = failure
            result.append(failure)
        }
        services.removeAll { $0.service == .onePosition && $0.known != nil }
        return result
    }

    mutating func start(_ request: RegionRequest) { regions.append(request) }

    mutating func stop(_ request: RegionRequest) { regions.removeAll { $0 == request } }

    /// Removes a request, and returns true unless it was stopped before.
    mutating func take(_ request: RegionRequest) -> Bool {
        guard let place = regions.firstIndex(of: request) else { return false }
        regions.remove(at: place)
        return true
    }
}
