package import BeaconDelivery
import BeaconEventStore
package import BeaconMQTT
import BeaconModel
import BeaconMonitoring
package import Foundation
package import Logging

/// A destination as the gateway uses it: its sink, its filter, and a receiver of all events where it has one.
package struct ConfiguredDestination: Sendable {
    /// The destination of notifications.
    package var destination: Destination

    /// The filter of its notifications.
    var filter: DestinationFilter

    /// The receiver of all events; nil for destinations of notifications alone.
    var receive: (@Sendable (BeaconEvent) -> Void)?

    /// Takes in the regions, beacons and places of another configuration, and which of them have new names; nil for
    /// destinations that need none.
    var configure: (@Sendable (GatewayConfiguration, RenamedItems) -> Void)?

    /// Ends the states of the last run, which came as events; nil for destinations of notifications alone.
    var restored: (@Sendable () -> Void)?

    /// Receives what is known of the gateway itself; nil for destinations that do not show it.
    package var diagnose: (@Sendable (GatewayDiagnostics) -> Void)?

    /// The settings; nil for one that was made without.
    var settings: DestinationSettings?

    /// The sender without the filter.
    var sender: (any Sink)?

    /// Returns the destination with other regions and kinds of notification, and the same connection; nil where it has
    /// to be another one.
    package func continuing(as new: DestinationSettings) -> ConfiguredDestination? {
        guard let settings, let sender, settings.name == new.name, settings.kind == new.kind else { return nil }
        var next = self
        next.settings = new
        next.filter = DestinationFilter(regions: new.regions)
        next.destination.sink = FilteredSink(sink: sender, regions: next.filter)
        next.destination.kinds = new.events
        if let broker = sender as? MQTTSink { next.configure = Self.configuration(of: broker, for: new) }
        return next
    }

    private static func configuration(
        of broker: MQTTSink, for settings: DestinationSettings
    ) -> @Sendable (GatewayConfiguration, RenamedItems) -> Void {
        { configuration, renamed in
            broker.configure(
                regions: configuration.namedRegions(for: settings), beacons: configuration.namedBeacons,
                places: configuration.places?.placeNames ?? [], renamed: renamed)
        }
    }
}

extension ConfiguredDestination {
    /// Creates a destination from its settings.
    ///
    /// - Parameters:
    ///   - settings: the destination's settings.
    ///   - configuration: the whole configuration, whose regions and beacons brokers announce.
    ///   - stateFolder: the folder for a name that is made once; nil for a dry run, which stores nothing.
    ///   - logger: the log.
    /// - Throws: the error of the destination's kind, if the settings cannot work.
    package init(
        _ settings: DestinationSettings, in configuration: GatewayConfiguration, stateFolder: URL?, logger: Logger
    ) throws {
        let filter = DestinationFilter(regions: settings.regions)
        let sink: any Sink
        var receive: (@Sendable (BeaconEvent) -> Void)?
        var configure: (@Sendable (GatewayConfiguration, RenamedItems) -> Void)?
        var restored: (@Sendable () -> Void)?
        var diagnose: (@Sendable (GatewayDiagnostics) -> Void)?
        switch settings.kind {
        case .webhook(let webhook):
            var configuration = WebhookConfiguration(url: webhook.url)
            for header in webhook.headers { configuration.headers[header.name] = header.value }
            if let secret = webhook.signingSecret { configuration.signingSecrets = [secret] }
            configuration.maximumBatch = webhook.batch
            configuration.http.connectTimeout = webhook.connectTimeout
            configuration.http.requestTimeout = webhook.timeout
            configuration.http.proxy = webhook.proxy.flatMap(HTTPProxy.init)
            if let file = webhook.authorityFile {
                configuration.http.additionalTrustRoots = [URL(fileURLWithPath: file)]
            }
            sink = try WebhookSink(configuration)
        case .kumulos(let kumulos):
            let id = try kumulos.installID ?? InstallID(name: settings.name, in: stateFolder).value
            var configuration = KumulosConfiguration(
                apiKey: kumulos.apiKey, secretKey: kumulos.secretKey, installID: id)
            if let url = kumulos.url { configuration.baseURL = url }
            sink = try KumulosSink(configuration)
        case .mqtt(let mqtt):
            let broker = try MQTTSink(mqtt, for: settings, in: configuration, logger: logger)
            receive = { broker.receive($0) }
            restored = { broker.restored() }
            if mqtt.homeAssistant?.isEnabled == true { diagnose = { broker.receive($0) } }
            configure = Self.configuration(of: broker, for: settings)
            sink = broker
        }
        self.init(
            destination: Destination(
                name: settings.name, sink: FilteredSink(sink: sink, regions: filter), kinds: settings.events),
            filter: filter, receive: receive, configure: configure, restored: restored, diagnose: diagnose)
        self.settings = settings
        sender = sink
    }
}

extension HTTPProxy {
    /// Creates the proxy that an address names, with the user and password in it.
    fileprivate init?(_ url: URL) {
        guard let host = url.host else { return nil }
        // RFC 9110, 4.2: the default ports.
        let port = url.port ?? (url.scheme == "https" ? 443 : 80)
        self.init(host: host, port: port, username: url.user, password: url.password.map { Secret($0) })
    }
}

/// A destination's choice of notifications, by its list of regions.
struct DestinationFilter: Sendable {
    /// The regions whose notifications it receives; nil for all.
    var regions: Set<String>?

    /// The filter of a sink behind it. A heartbeat has no region, and lists all.
    func filter(of sink: any Sink) -> EventFilter {
        var filter = sink.filter
        (filter.regions, filter.kindsOfAnyRegion) = (regions, [BeaconNotification.Kind.heartbeat.rawValue])
        return filter
    }

    /// Returns a notification without the other regions, which a heartbeat lists.
    func apply(to notification: BeaconNotification) -> BeaconNotification {
        guard let regions else { return notification }
        var notification = notification
        notification.presence = notification.presence?.filter { regions.contains($0.region.name) }
        return notification
    }
}

/// A sink behind a filter.
struct FilteredSink: Sink {
    let sink: any Sink
    let regions: DestinationFilter

    var maximumBatch: Int { sink.maximumBatch }

    var filter: EventFilter { regions.filter(of: sink) }

    func deliver(_ batch: [QueuedNotification]) async -> [DeliveryOutcome] {
        await sink.deliver(
            batch.map { entry in
                var entry = entry
                entry.notification = regions.apply(to: entry.notification)
                return entry
            })
    }

    func run(onConnection: @escaping @Sendable () -> Void) async { await sink.run(onConnection: onConnection) }
}
