package import BeaconApplications
package import BeaconEngine

/// A center's settings.
package struct CenterConfiguration: Sendable {
    /// The application whose regions and permissions these are.
    package var application: ApplicationIdentity

    /// The store of the application's regions.
    package var store: any RegionStore

    /// The policy for authorizations; nil where none is stored.
    package var policy: AuthorizationPolicy?

    /// The authorization before the first request, where there is no policy.
    package var initialStatus = AuthorizationStatus.notDetermined

    /// The answer to requests, where there is no policy.
    package var answer = RequestAnswer.grant

    /// The most regions that the application may monitor at once; nil for any number.
    package var maximumRegions: Int?

    /// The store of the application's monitors; in memory unless set.
    package var monitorStore: any MonitorStore = MemoryMonitorStore()

    /// The store by which the application is started when it does not run; nil where it is not to be started.
    package var launchStore: (any LaunchStore)?

    /// A Boolean value indicating whether the application may be started when it does not run.
    package var mayBeStarted = true

    /// The most conditions that the clients of the application may monitor for themselves at once, beside its regions;
    /// nil for any number.
    package var maximumConditions: Int? = BeaconCenter.appleConditionLimit

    /// The count of tasks that the center's callbacks wake, for a test that drives time; nil in an app.
    package var tasks: WorkCount?

    /// A Boolean value indicating whether scans of Core Bluetooth hear no data of iBeacons, as on iOS; false as on
    /// macOS.
    package var hidesBeaconsFromScans = true

    /// The engine's settings.
    package var engine = EngineConfiguration()

    /// Settings for an application.
    package init(application: ApplicationIdentity, store: any RegionStore, policy: AuthorizationPolicy? = nil) {
        self.application = application
        self.store = store
        self.policy = policy
    }
}
