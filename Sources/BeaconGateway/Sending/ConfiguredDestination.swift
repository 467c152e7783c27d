package import BeaconDelivery
import BeaconEventStore
package import BeaconMQTT
import BeaconModel
import BeaconMonitoring
package import Foundation
package import Logging

/// A destination as the gateway uses it, with a receiver of all events if it has one.
package struct ConfiguredDestination: Sendable {
    /// The destination of notifications.
    package var destination: Destination

    /// The receiver of all events; nil for destinations that only get notifications.
    var receive: (@Sendable (BeaconEvent) -> Void)?

    /// Applies the regions, beacons and places of another configuration, and their new names; nil for destinations that
    /// need none.
    var configure: (@Sendable (GatewayConfiguration, RenamedItems) -> Void)?

    /// Called after the states of the last run, which arrive as events; nil for destinations that only get
    /// notifications.
    package var restored: (@Sendable () -> Void)?

    /// Receives the diagnostics of the gateway; nil for destinations that do not show them.
    package var diagnose: (@Sendable (GatewayDiagnostics) -> Void)?

    /// The settings; nil for a destination that was created without.
    var settings: DestinationSettings?

    package init(_ destination: Destination, receive: (@Sendable (BeaconEvent) -> Void)? = nil) {
        (self.destination, self.receive) = (destination, receive)
    }

    /// Returns the destination with other regions and kinds of notification, and the same connection; nil if it needs
    /// another connection.
    package func continuing(as new: DestinationSettings) -> ConfiguredDestination? {
        guard let settings, settings.name == new.name, settings.kind == new.kind else { return nil }
        var next = self
        next.settings = new
        (next.destination.regions, next.destination.kinds) = (new.regions, new.events)
        if let broker = destination.sink as? MQTTSink { next.configure = Self.configuration(of: broker, for: new) }
        return next
    }

    private static func configuration(
        of broker: MQTTSink, for settings: DestinationSettings
    ) -> @Sendable (GatewayConfiguration, RenamedItems) -> Void {
        { configuration, renamed in
            broker.configure(
                regions: configuration.namedRegions(for: settings), beacons: configuration.namedBeacons,
                places: configuration.namedPlaces, renamed: renamed)
        }
    }
}

extension ConfiguredDestination {
    /// Creates a destination from its settings.
    ///
    /// - Parameters:
    ///   - settings: the destination's settings.
    ///   - configuration: the whole configuration, whose regions and beacons brokers announce.
    ///   - stateFolder: the folder for an id that is created once; nil for a dry run, which stores nothing.
    ///   - logger: the log.
    /// - Throws: the error of the destination's kind, if the settings cannot work.
    package init(
        _ settings: DestinationSettings, in configuration: GatewayConfiguration, stateFolder: URL?, logger: Logger
    ) throws {
        let sink: any Sink
        switch settings.kind {
        case .webhook(let webhook): sink = try WebhookSink(webhook)
        case .kumulos(var kumulos):
            if kumulos.installID.isEmpty {
                kumulos.installID = try InstallID(name: settings.name, in: stateFolder).value
            }
            sink = try KumulosSink(kumulos)
        case .mqtt(let mqtt): sink = try MQTTSink(mqtt, for: settings, in: configuration, logger: logger)
        }
        self.init(
            Destination(name: settings.name, sink: sink, kinds: settings.events, regions: settings.regions))
        self.settings = settings
        guard case .mqtt(let mqtt) = settings.kind, let broker = sink as? MQTTSink else { return }
        receive = { broker.receive($0) }
        restored = { broker.restored() }
        if mqtt.homeAssistant.isEnabled { diagnose = { broker.receive($0) } }
        configure = Self.configuration(of: broker, for: settings)
    }
}
