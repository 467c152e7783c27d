/// The settings of Home Assistant's discovery over MQTT, by which regions and named beacons become devices
/// (home-assistant.io/integrations/mqtt, "MQTT Discovery").
public struct HomeAssistantSettings: Hashable, Sendable {
    /// True to announce devices; false to remove those that were announced.
    public var isEnabled: Bool

    /// The prefix of discovery topics: `homeassistant`, unless Home Assistant has another setting.
    public var discoveryPrefix: String

    /// The topic at which Home Assistant publishes `online` when it has started: `homeassistant/status`, unless it has
    /// another setting.
    public var statusTopic: String

    /// The prefix of the ids in Home Assistant, which distinguishes the devices of two gateways: letters, digits and
    /// `-`. It must never change, or every device becomes a new one. Nil for the client id, in which other characters
    /// are escaped.
    public var nodeID: String?

    /// True where the regions are devices too, with an occupancy each; false for the named beacons alone.
    public var announcesRegions: Bool

    /// The longest wait after Home Assistant's start until devices are announced again. The actual one is random, since
    /// all programs of a house receive the status at once.
    public var announcementDelay: Duration

    /// The name of the gateway's own device; nil for one that is made from the base topic.
    public var gatewayName: String?

    /// The address that the devices' pages link to, which a browser of another machine can open; nil for none.
    public var configurationURL: String?

    /// The address of help with the program; nil for none.
    public var supportURL: String?

    /// Settings with Home Assistant's defaults.
    ///
    /// - Parameters:
    ///   - isEnabled: true to announce devices; false to remove those that were announced.
    ///   - discoveryPrefix: the prefix of discovery topics.
    ///   - statusTopic: the topic at which Home Assistant publishes its status.
    ///   - nodeID: the prefix of the ids in Home Assistant; nil for the client id.
    ///   - announcesRegions: true where the regions are devices too, with an occupancy each.
    ///   - announcementDelay: the longest wait after Home Assistant's start until devices are announced again.
    ///   - gatewayName: the name of the gateway's own device; nil for one that is made from the base topic.
    ///   - configurationURL: the address that the devices' pages link to; nil for none.
    ///   - supportURL: the address of help with the program; nil for none.
    public init(
        isEnabled: Bool = true, discoveryPrefix: String = "homeassistant", statusTopic: String = "homeassistant/status",
        nodeID: String? = nil, announcesRegions: Bool = true, announcementDelay: Duration = .seconds(5),
        gatewayName: String? = nil, configurationURL: String? = nil, supportURL: String? = nil
    ) {
        self.isEnabled = isEnabled
        self.discoveryPrefix = discoveryPrefix
        self.statusTopic = statusTopic
        self.nodeID = nodeID
        self.announcesRegions = announcesRegions
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
            mistakes.append("announcementDelay is \(announcementDelay); write none or more")
        }
        for (name, address) in [("configurationURL", configurationURL), ("supportURL", supportURL)] {
            // Home Assistant drops the whole announcement of a device with another one.
            guard let address, !address.hasPrefix("http://"), !address.hasPrefix("https://") else { continue }
            mistakes.append("\(name) is \"\(address)\"; write an address of http or https")
        }
        return mistakes
    }
}
