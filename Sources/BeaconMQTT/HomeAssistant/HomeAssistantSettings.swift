/// The settings of Home Assistant's discovery over MQTT, which turns regions and named beacons into devices
/// (home-assistant.io/integrations/mqtt, "MQTT Discovery").
public struct HomeAssistantSettings: Hashable, Sendable {
    /// Whether devices are announced. If false, earlier announcements are removed.
    public var isEnabled: Bool

    /// The prefix of discovery topics: `homeassistant`, unless it is changed in Home Assistant.
    public var discoveryPrefix: String

    /// The topic at which Home Assistant publishes `online` when it has started: `homeassistant/status`, unless it is
    /// changed in Home Assistant.
    public var statusTopic: String

    /// The prefix of the ids in Home Assistant, which distinguishes the devices of two gateways: letters, digits and
    /// `-`. It must never change, or every device becomes a new one. Nil uses the client id, with other characters
    /// escaped.
    public var nodeID: String?

    /// Whether regions are devices too, each with an occupancy. If false, only the named beacons are devices.
    public var announcesRegions: Bool

    /// Whether places and their receivers are devices too. If false, only the beacons show their places.
    public var announcesPlaces: Bool

    /// The language of the entities' names. Ids and states do not depend on it.
    public var language: HomeAssistantLanguage

    /// The longest wait after Home Assistant's start until devices are announced again. The actual wait is random,
    /// because all programs of a home receive the status at the same time.
    public var announcementDelay: Duration

    /// The name of the gateway's own device; nil for a name based on the base topic.
    public var gatewayName: String?

    /// The address that the devices' pages link to, reachable from other machines' browsers; nil for none.
    public var configurationURL: String?

    /// The address of the program's help; nil for none.
    public var supportURL: String?

    /// Creates settings with Home Assistant's defaults.
    ///
    /// - Parameters:
    ///   - isEnabled: true to announce devices; false to remove earlier announcements.
    ///   - discoveryPrefix: the prefix of discovery topics.
    ///   - statusTopic: the topic at which Home Assistant publishes its status.
    ///   - nodeID: the prefix of the ids in Home Assistant; nil for the client id.
    ///   - announcesRegions: true to make the regions devices too, each with an occupancy.
    ///   - announcesPlaces: true to make the places and their receivers devices too.
    ///   - language: the language of the entities' names.
    ///   - announcementDelay: the longest wait after Home Assistant's start until devices are announced again.
    ///   - gatewayName: the name of the gateway's own device; nil for a name based on the base topic.
    ///   - configurationURL: the address that the devices' pages link to; nil for none.
    ///   - supportURL: the address of the program's help; nil for none.
    public init(
        isEnabled: Bool = true, discoveryPrefix: String = "homeassistant", statusTopic: String = "homeassistant/status",
        nodeID: String? = nil, announcesRegions: Bool = true, announcesPlaces: Bool = true,
        language: HomeAssistantLanguage = .english, announcementDelay: Duration = .seconds(5),
        gatewayName: String? = nil, configurationURL: String? = nil, supportURL: String? = nil
    ) {
        self.isEnabled = isEnabled
        self.discoveryPrefix = discoveryPrefix
        self.statusTopic = statusTopic
        self.nodeID = nodeID
        self.announcesRegions = announcesRegions
        self.announcesPlaces = announcesPlaces
        self.language = language
        self.announcementDelay = announcementDelay
        self.gatewayName = gatewayName
        self.configurationURL = configurationURL
        self.supportURL = supportURL
    }

    /// Returns the mistakes in these settings, each with its remedy.
    public func mistakes() -> [String] {
        var mistakes: [String] = []
        if let mistake = TopicLevel.mistake(inTopic: discoveryPrefix) { mistakes.append("discoveryPrefix \(mistake)") }
        if let mistake = TopicLevel.mistake(inTopic: statusTopic) { mistakes.append("statusTopic \(mistake)") }
        if let nodeID, nodeID.isEmpty || nodeID != DiscoveryID.escape(nodeID) {
            mistakes.append("nodeID is \"\(nodeID)\"; write letters, digits and -")
        }
        if announcementDelay < .zero {
            mistakes.append("announcementDelay is \(announcementDelay); write zero or more")
        }
        for (name, address) in [("configurationURL", configurationURL), ("supportURL", supportURL)] {
            // With any other address Home Assistant would drop the device's whole announcement.
            guard let address, !address.hasPrefix("http://"), !address.hasPrefix("https://") else { continue }
            mistakes.append("\(name) is \"\(address)\"; write an http or https address")
        }
        return mistakes
    }
}
