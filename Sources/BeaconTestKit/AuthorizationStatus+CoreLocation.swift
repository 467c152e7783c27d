internal import BeaconService
import CoreLocation

extension AuthorizationStatus {
    /// What Core Location knows under other names.
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
