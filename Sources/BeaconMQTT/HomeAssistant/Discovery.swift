import BeaconModel
import BeaconSupport

/// The announcements of devices to Home Assistant: their topics and payloads, and the check whether one is this
/// gateway's.
struct Discovery: Sendable {
    private let options: HomeAssistantSettings
    private let node: String
    private let topics: TopicTree
    private let availabilityTopic: String?

    /// The places that beacons are located in; empty if beacons are not located.
    let places: [NamedPlace]

    /// The names of the places.
    let placeNames: Set<String>

    init(_ options: HomeAssistantSettings, broker: MQTTSettings, topics: TopicTree, places: [NamedPlace] = []) {
        self.places = places
        placeNames = Set(places.map(\.name))
        self.options = options
        self.topics = topics
        node = options.nodeID ?? DiscoveryID.escape(broker.clientID)
        availabilityTopic = broker.availabilityTopic
    }

    /// Whether devices are announced.
    var isEnabled: Bool { options.isEnabled }

    /// Whether regions are announced.
    var announcesRegions: Bool { options.isEnabled && options.announcesRegions }

    /// Whether places and their receivers are announced.
    var announcesPlaces: Bool { options.isEnabled && options.announcesPlaces }

    /// The filter of all announcements, including those of other programs.
    var filter: String { "\(options.discoveryPrefix)/device/+/config" }

    /// Returns the announcements of devices: the gateway's first, because the others refer to it, then the beacons'
    /// and, if enabled, those of places, receivers and regions.
    func announcements(regions: [NamedRegion], beacons: [NamedBeacon]) -> [(topic: String, payload: DiscoveryPayload)] {
        guard isEnabled else { return [] }
        var devices = [(topic(for: gatewayID), payloadOfGateway)]
        devices += beacons.map { (topic(for: id(of: $0)), payload(for: $0)) }
        if announcesPlaces {
            let keys = NamedPlace.keys(of: places)
            devices += places.map { place in
                let key = DiscoveryID.escape(keys[place.name] ?? place.name)
                let id = DiscoveryID(node: node, subject: .place(key))
                return (topic(for: id), payload(for: place, id.text))
            }
            for place in places {
                devices += place.receivers.map { receiver in
                    let id = DiscoveryID(node: node, subject: .receiver(DiscoveryID.escape(receiver)))
                    return (topic(for: id), payload(forReceiver: receiver, in: place, id.text))
                }
            }
        }
        guard announcesRegions else { return devices }
        let keys = NamedRegion.keys(of: regions)
        return devices
            + regions.map { region in
                let id = id(ofRegion: keys[region.name] ?? region.key)
                return (topic(for: id), payload(for: region, id.text))
            }
    }

    private func topic(for id: DiscoveryID) -> String { "\(options.discoveryPrefix)/device/\(id.text)/config" }

    private var gatewayID: DiscoveryID { DiscoveryID(node: node, subject: .gateway) }

    private func id(of beacon: NamedBeacon) -> DiscoveryID {
        DiscoveryID(
            node: node,
            subject: beacon.id.map { .namedBeacon(DiscoveryID.escape($0)) } ?? .beacon(beacon.identity))
    }

    private func id(ofRegion key: String) -> DiscoveryID {
        DiscoveryID(node: node, subject: .region(DiscoveryID.escape(key)))
    }

    /// Returns whether an announcement is from this gateway, in this run or an earlier one.
    func owns(_ topic: String) -> Bool {
        let (start, end) = ("\(options.discoveryPrefix)/device/", "/config")
        guard topic.hasPrefix(start), topic.hasSuffix(end), topic.utf8.count > start.utf8.count + end.utf8.count
        else { return false }
        return DiscoveryID(topic.dropFirst(start.count).dropLast(end.count), of: node) != nil
    }

    /// The announcement of the gateway itself.
    private var payloadOfGateway: DiscoveryPayload {
        let id = gatewayID.text
        let name = options.gatewayName ?? topics.base.replacing("/", with: " ")
        return payload(
            device(id, name, .gateway),
            DiscoveryComponent.entitiesOfGateway(id, name, topics: topics, names: options.language.names),
            stateTopic: topics.gatewayState)
    }

    private func payload(for region: NamedRegion, _ id: String) -> DiscoveryPayload {
        var device = device(id, region.name, .region)
        device.modelID = region.constraint.description
        return payload(
            device, DiscoveryComponent.entities(of: region, id, topics: topics, names: options.language.names),
            stateTopic: topics.regionState(region.name))
    }

    private func payload(for place: NamedPlace, _ id: String) -> DiscoveryPayload {
        var device = device(id, place.name, .place)
        device.suggestedArea = place.name
        let topic = topics.placeState(place.name)
        return payload(
            device, DiscoveryComponent.entities(of: place, id, at: topic, names: options.language.names),
            stateTopic: topic)
    }

    private func payload(forReceiver receiver: String, in place: NamedPlace, _ id: String) -> DiscoveryPayload {
        var device = device(id, receiver, .receiver)
        device.suggestedArea = place.name
        return payload(
            device, DiscoveryComponent.entities(ofReceiver: receiver, id, names: options.language.names),
            stateTopic: topics.receiverState(receiver))
    }

    /// Returns the announcement of a beacon.
    func payload(for beacon: NamedBeacon) -> DiscoveryPayload {
        let id = id(of: beacon).text
        var device = device(id, beacon.name, .beacon)
        device.modelID = beacon.identity.description
        device.suggestedArea = beacon.place
        var entities = DiscoveryComponent.entities(
            of: beacon, id, topics: topics, places: places.map(\.name), names: options.language.names)
        for (name, uniqueID) in beacon.uniqueIDs {
            if name == NamedBeacon.deviceName { device.identifiers.append(uniqueID) }
            entities[name]?.uniqueID = uniqueID
        }
        return payload(
            device, entities,
            stateTopic: topics.beaconState(beacon.name))
    }

    private func device(_ id: String, _ name: String, _ model: DeviceModel) -> DiscoveryPayload.Device {
        DiscoveryPayload.Device(
            identifiers: [id], name: name, model: model.rawValue, swVersion: ProgramVersion.current,
            configurationURL: options.configurationURL, viaDevice: model == .gateway ? nil : gatewayID.text)
    }

    private func payload(
        _ device: DiscoveryPayload.Device, _ components: [String: DiscoveryComponent], stateTopic: String
    ) -> DiscoveryPayload {
        DiscoveryPayload(
            device: device,
            origin: DiscoveryPayload.Origin(
                name: "swift-beacon", swVersion: ProgramVersion.current, supportURL: options.supportURL),
            components: components, stateTopic: stateTopic, availabilityTopic: availabilityTopic,
            availabilityTemplate: availabilityTopic.map { _ in "{{ 'online' if value == 'online' else 'offline' }}" })
    }
}
