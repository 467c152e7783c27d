/// The settings of Home Assistant's discovery over MQTT, by which named beacons become devices
/// (home-assistant.io/integrations/mqtt, "MQTT Discovery").
public struct HomeAssistantOptions: Hashable, Sendable {
    /// True to announce devices; false to remove those that were announced.
    public var isEnabled: Bool

    /// The prefix of discovery topics: `homeassistant`, unless Home Assistant has another setting.
    public var discoveryPrefix: String

    /// The topic at which Home Assistant publishes `online` when it has started: `homeassistant/status`, unless it has
    /// another setting.
    public var statusTopic: String

    /// The prefix of the ids in Home Assistant, which distinguishes the devices of two gateways: letters, digits, `_`
    /// and `-`. It must never change, or every device becomes a new one. Nil for the client id, with `_` in place of
    /// other characters.
    public var nodeID: String?

    /// The longest wait after Home Assistant's start until devices are announced again. The actual one is random, since
    /// all programs of a house receive the status at once.
    public var announcementDelay: Duration

    /// Settings with Home Assistant's defaults.
    ///
    /// - Parameters:
    ///   - isEnabled: true to announce devices; false to remove those that were announced.
    ///   - discoveryPrefix: the prefix of discovery topics.
    ///   - statusTopic: the topic at which Home Assistant publishes its status.
    ///   - nodeID: the prefix of the ids in Home Assistant; nil for the client id.
    ///   - announcementDelay: the longest wait after Home Assistant's start until devices are announced again.
    public init(
        isEnabled: Bool = true, discoveryPrefix: String = "homeassistant", statusTopic: String = "homeassistant/status",
        nodeID: String? = nil, announcementDelay: Duration = .seconds(5)
    ) {
        self.isEnabled = isEnabled
        self.discoveryPrefix = discoveryPrefix
        self.statusTopic = statusTopic
        self.nodeID = nodeID
        self.announcementDelay = announcementDelay
    }

    /// Returns the mistakes in these settings, each with its remedy.
    public func mistakes() -> [String] {
        var mistakes: [String] = []
        if let mistake = TopicLevel.mistake(inTopic: discoveryPrefix) { mistakes.append("discoveryPrefix \(mistake)") }
        if let mistake = TopicLevel.mistake(inTopic: statusTopic) { mistakes.append("statusTopic \(mistake)") }
        if let nodeID, nodeID.isEmpty || nodeID != DiscoveryID.node(from: nodeID) {
            mistakes.append("nodeID is \"\(nodeID)\"; write letters, digits, _ and -")
        }
        if announcementDelay < .zero {
            mistakes.append("announcementDelay is \(announcementDelay); write none or more")
        }
        return mistakes
    }
}
