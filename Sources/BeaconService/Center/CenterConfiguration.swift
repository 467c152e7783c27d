public import BeaconEngine

/// A center's settings.
public struct CenterConfiguration: Sendable {
    /// The application whose regions and permissions these are.
    public var application: ApplicationIdentity

    /// Where its regions are kept.
    public var store: any RegionStore

    /// Who may know of beacons; nil where everything that is asked for is granted and nothing is remembered.
    public var policy: AuthorizationPolicy?

    /// What the application may before anything was asked, where there is no policy.
    public var initialStatus = AuthorizationStatus.notDetermined

    /// The most regions that the application may monitor at once; nil for any number.
    public var maximumRegions: Int?

    /// Where the application's monitors are kept; in memory where nothing else is said.
    public var monitorStore: any MonitorStore = MemoryMonitorStore()

    /// Where the application says how it is started when it does not run; nil where nobody starts it.
    public var launchStore: (any LaunchStore)?

    /// How much the clients of the application may watch for themselves at once, beside its regions; nil for any number.
    public var maximumWatches: Int? = BeaconCenter.appleConditionLimit

    /// After how long of healthy scanning without a match a region counts as outside. Core Location's documents give no
    /// number; ten seconds are enough for any beacon that a region could be left by.
    public var outsideAfter = Duration.seconds(10)

    /// The engine's settings.
    public var engine = EngineConfiguration()

    /// Settings for an application.
    public init(application: ApplicationIdentity, store: any RegionStore, policy: AuthorizationPolicy? = nil) {
        self.application = application
        self.store = store
        self.policy = policy
    }
}
