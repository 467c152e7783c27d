import BeaconMQTT
import BeaconMonitoring
import Logging

extension MQTTSink {
    /// Creates the sink of a broker, with the destination's regions and all named beacons.
    ///
    /// - Throws: `MQTTError`.
    convenience init(
        _ settings: MQTTSettings, for destination: DestinationSettings, in configuration: GatewayConfiguration,
        logger: Logger
    ) throws {
        var state = MQTTStateOptions()
        if let interval = settings.stateInterval { state.minimumInterval = interval }
        try self.init(
            settings.options(for: destination.name),
            regions: configuration.regionNames(for: destination), beacons: configuration.namedBeacons,
            places: configuration.places?.placeNames ?? [], homeAssistant: settings.homeAssistantOptions, state: state,
            logger: logger)
    }
}

extension GatewayConfiguration {
    /// Returns the names of the regions that a destination receives.
    func regionNames(for destination: DestinationSettings) -> [String] {
        regions.map(\.name).filter { destination.regions?.contains($0) ?? true }
    }

    /// The beacons that have names.
    var namedBeacons: [NamedBeacon] { beacons.map { NamedBeacon(name: $0.name, identity: $0.identity) } }
}

extension MQTTSettings {
    /// Returns the options of the connection of a destination, whose name its default client id has.
    func options(for destination: String) -> MQTTOptions {
        var options = MQTTOptions()
        options.host = host
        options.port = port.map { UInt16($0) }
        options.version = version.map { $0 == .v5 ? .v5 : .v3_1_1 }
        options.clientID = clientID ?? MachineIdentity.current.clientID(for: destination)
        options.user = user
        options.password = password
        if let tls {
            var files = MQTTTLSOptions()
            files.authorityFile = tls.authorityFile
            files.certificateFile = tls.certificateFile
            files.keyFile = tls.keyFile
            options.tls = files
        }
        if let keepAlive { options.keepAlive = keepAlive }
        options.baseTopic = baseTopic ?? MachineIdentity.current.baseTopic
        options.retainsMessages = retainsMessages
        options.qualityOfService = MQTTQualityOfService(rawValue: UInt8(qualityOfService)) ?? .atLeastOnce
        return options
    }

    /// The options of discovery by Home Assistant. Where the file does not mention it, earlier announcements are
    /// withdrawn.
    var homeAssistantOptions: HomeAssistantOptions {
        var options = HomeAssistantOptions(isEnabled: homeAssistant?.isEnabled ?? false)
        if let homeAssistant { options.announcesRegions = homeAssistant.announcesRegions }
        if let prefix = homeAssistant?.discoveryPrefix { options.discoveryPrefix = prefix }
        if let topic = homeAssistant?.statusTopic { options.statusTopic = topic }
        return options
    }
}
