public import BeaconDelivery
public import Logging

/// All that the daemon is told.
public struct GatewayConfiguration: Sendable {
    /// Where adverts come from.
    public var sources: [SourceSettings] = []

    /// What is watched for.
    public var regions: [RegionSettings] = []

    /// Beacons that have names.
    public var beacons: [BeaconSettings] = []

    /// What is worth a notification.
    public var notify = NotificationRules()

    /// Where notifications go.
    public var destinations: [DestinationSettings] = []

    /// Where notifications wait.
    public var outbox: OutboxSettings

    /// What is started for events.
    public var launch = LaunchSettings()

    /// What is logged.
    public var logLevel = Logger.Level.info

    /// A configuration that does nothing.
    public init(outbox: OutboxSettings) { self.outbox = outbox }
}
