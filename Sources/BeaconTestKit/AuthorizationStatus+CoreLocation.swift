internal import BeaconApplications
import CoreLocation

extension AuthorizationStatus {
    /// Creates the status from Core Location's, which has other names.
    init(_ status: CLAuthorizationStatus) {
        switch status {
        case .notDetermined: self = .notDetermined
        case .restricted: self = .restricted
        case .denied: self = .denied
        case .authorizedWhenInUse: self = .whenInUse
        case .authorizedAlways: self = .always
        }
    }
}
