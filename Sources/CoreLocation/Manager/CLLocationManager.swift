/// The object through which an app ranges and monitors beacons.
open class CLLocationManager: NSObject {
    /// A manager.
    public override init() {
        super.init()
    }

    /// What the app may learn.
    open var authorizationStatus: CLAuthorizationStatus { .notDetermined }
}
