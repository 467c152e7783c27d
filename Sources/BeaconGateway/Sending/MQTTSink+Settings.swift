import BeaconMQTT
import Logging

extension MQTTSink {
    /// The sink of a broker, which is told of its own regions and of all named beacons.
    ///
    /// - Throws: `MQTTError`.
    convenience init(
        _ settings: MQTTSettings, for destination: DestinationSettings, in configuration: GatewayConfiguration,
        logger: Logger
    ) throws {
        var state = MQTTStateOptions()
        if let interval = settings.stateInterval { state.minimumInterval = interval }
        try self.init(
            settings.options,
            regions: configuration.regions.map(\.name).filter { destination.regions?.contains($0) ?? true },
            beacons: configuration.beacons.map { NamedBeacon(name: $0.name, identity: $0.identity) },
            homeAssistant: settings.homeAssistantOptions, state: state, logger: logger)
    }
}
