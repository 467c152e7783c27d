package import BeaconApplications
package import BeaconEngine

/// A center's settings.
package struct CenterConfiguration: Sendable {
    /// The application that owns the regions and the authorization.
    package var application: ApplicationIdentity

    /// The store of the application's regions.
    package var store: any RegionStore

    /// The policy for authorizations; nil if no authorizations are stored.
    package var policy: AuthorizationPolicy?

    /// The authorization before the first request if there is no policy.
    package var initialStatus = AuthorizationStatus.notDetermined

    /// The answer to requests if there is no policy.
    package var answer = RequestAnswer.grant

    /// The maximum number of regions that the application may monitor at once; nil for no limit.
    package var maximumRegions: Int?

    /// The store of the application's monitors; in memory unless set.
    package var monitorStore: any MonitorStore = MemoryMonitorStore()

    /// The store through which beacond starts the application when it does not run; nil to disable that.
    package var launchStore: (any LaunchStore)?

    /// A Boolean value indicating whether the application may be started when it does not run.
    package var mayBeStarted = true

    /// The maximum number of conditions that the clients of the application may monitor at once, in addition to its
    /// regions; nil for no limit.
    package var maximumConditions: Int? = BeaconCenter.appleConditionLimit

    /// The count of tasks that the center's callbacks wake, for a test that drives time; nil in an app.
    package var tasks: WorkCount?

    /// The life of the application, for a test that simulates it; nil in an app.
    package var life: (any ApplicationLife)?

    /// A device in a simulated air.
    package struct Owner: Hashable, Sendable, CustomStringConvertible {
        /// The name of the device.
        package var device: String
        /// The place in the test's source that created the air.
        package var air: String
        /// The number of the air, since one place may create many.
        package var airNumber: UInt64

        /// Names a device.
        package init(device: String, air: String, airNumber: UInt64) {
            (self.device, self.air, self.airNumber) = (device, air, airNumber)
        }

        package var description: String { "the device \"\(device)\" of the air that \(air) created" }
    }

    /// The device and the air of a test that the center belongs to; nil in an app.
    package var owner: Owner?

    /// A Boolean value indicating whether the machine lacks the radio that the application would use, as far as that is
    /// known before the radio is open.
    package var lacksRadio = false

    /// A Boolean value indicating whether Core Bluetooth scans hide the data of iBeacons: true as on iOS, false as on
    /// macOS.
    package var hidesBeaconsFromScans = true

    /// The engine's settings.
    package var engine = EngineConfiguration()

    /// Creates the settings of an application.
    package init(application: ApplicationIdentity, store: any RegionStore, policy: AuthorizationPolicy? = nil) {
        self.application = application
        self.store = store
        self.policy = policy
    }
}
