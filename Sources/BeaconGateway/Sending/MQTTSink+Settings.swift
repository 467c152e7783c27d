import BeaconMQTT
import BeaconMonitoring
import BeaconSupport
import Foundation
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
        var homeAssistant = settings.homeAssistantOptions
        // Ids in Home Assistant outlive another name of the destination, which the default client id has.
        if settings.clientID == nil { homeAssistant.nodeID = MachineIdentity.current.nodeID }
        homeAssistant.gatewayName = settings.baseTopic == nil ? Self.machineName : nil
        homeAssistant.configurationURL = configuration.web?.remoteAddress
        homeAssistant.supportURL = ProgramVersion.supportAddress
        try self.init(
            settings.options(for: destination.name),
            regions: configuration.namedRegions(for: destination), beacons: configuration.namedBeacons,
            places: configuration.places?.placeNames ?? [], homeAssistant: homeAssistant, state: state,
            awaitsRestoredStates: true, logger: logger)
    }
}

extension MQTTSink {
    /// The name of this machine's gateway for people.
    fileprivate static var machineName: String {
        let host = ProcessInfo.processInfo.hostName.prefix { $0 != "." }
        return host.isEmpty ? "beacond" : "beacond \(host)"
    }
}

extension GatewayConfiguration {
    /// Returns the regions that a destination receives.
    func namedRegions(for destination: DestinationSettings) -> [NamedRegion] {
        regions.filter { destination.regions?.contains($0.name) ?? true }.map(NamedRegion.init)
    }

    /// The beacons that have names.
    var namedBeacons: [NamedBeacon] {
        beacons.map {
            NamedBeacon(name: $0.name, identity: $0.identity, isTracker: $0.isTracker, place: $0.place)
        }
    }
}

extension NamedRegion {
    /// The region of its settings.
    init(_ settings: RegionSettings) {
        self.init(name: settings.name, constraint: settings.region.constraint, id: settings.id)
    }
}

extension GatewayDiagnostics {
    /// The diagnostics of two moments of a gateway.
    ///
    /// - Parameters:
    ///   - statistics: the counts of now.
    ///   - before: the counts of a while ago.
    ///   - time: the time between them.
    ///   - waiting: the number of events that wait to be delivered.
    package init(_ statistics: GatewayStatistics, since before: GatewayStatistics, _ time: Duration, waiting: Int) {
        func packets(_ statistics: GatewayStatistics) -> Int { statistics.sources.reduce(0) { $0 + $1.packets } }
        let adverts = Double(max(packets(statistics) - packets(before), 0))
        self.init(
            hears: statistics.sources.contains { $0.state == .running },
            advertsPerSecond: time > .zero ? adverts / (time / .seconds(1)) : 0, waiting: waiting)
    }
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
