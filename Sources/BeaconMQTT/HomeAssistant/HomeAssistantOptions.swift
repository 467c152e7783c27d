/// Whether and how named beacons are made devices of Home Assistant, by its discovery over MQTT
/// (home-assistant.io/integrations/mqtt, "MQTT Discovery").
public struct HomeAssistantOptions: Hashable, Sendable {
    /// Whether devices are announced. Where they are not, those that were are removed.
    public var isEnabled: Bool

    /// What discovery topics begin with: `homeassistant`, unless Home Assistant is set to another.
    public var discoveryPrefix: String

    /// Where Home Assistant says `online` when it has started: `homeassistant/status`, unless it is set to another.
    public var statusTopic: String

    /// What the ids in Home Assistant begin with, so that two gateways' devices differ: letters, digits, `_` and `-`. It
    /// must stay the same for ever, or every device becomes a new one. Nil for the client id, with `_` in place of other
    /// characters.
    public var nodeID: String?

    /// The longest wait after Home Assistant's start until devices are announced again. The actual one is random, since
    /// all devices of a house hear of it at once.
    public var announcementDelay: Duration

    /// Home Assistant with its own defaults.
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

    /// Says what is wrong with these options, each mistake with what to write instead.
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
