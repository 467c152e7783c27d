import CoreLocation
import Foundation

/// An app that requests a permission once, and prints each answer.
@main
final class AskingApp: NSObject, CLLocationManagerDelegate {
    private let manager = CLLocationManager()
    private let wantsAlways = CommandLine.arguments.dropFirst().first == "always"

    override init() {
        super.init()
        manager.delegate = self
    }

    static func main() {
        let app = AskingApp()
        withExtendedLifetime(app) { RunLoop.main.run() }
    }

    /// Writes a line at once, even if the output is a file.
    private func print(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }

    func locationManagerDidChangeAuthorization(_ manager: CLLocationManager) {
        switch manager.authorizationStatus {
        case .notDetermined:
            print("not determined")
            if wantsAlways { manager.requestAlwaysAuthorization() } else { manager.requestWhenInUseAuthorization() }
        case .restricted: print("restricted")
        case .denied: print("denied")
        case .authorizedAlways: print("always")
        case .authorizedWhenInUse:
            print("when in use")
            if wantsAlways { manager.requestAlwaysAuthorization() }
        @unknown default: print("something new")
        }
    }
}
