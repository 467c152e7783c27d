internal import BeaconApplications
import CoreLocation

extension AuthorizationStatus {
    /// Converts a status from Core Location's type.
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
