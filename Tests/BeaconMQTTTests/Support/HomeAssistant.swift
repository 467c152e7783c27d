import Foundation

/// Home Assistant's entities of the region `shop` and the beacon `keys`, with the values that their announcements
/// select.
struct HomeAssistant {
    var isConnected = true { didSet { stamp() } }
    private var isOnline = false
    private var isTrackerAvailable = false
    private var values: [String: String] = [:]

    /// The states of the tracker, one after another.
    private(set) var trackerStates: [String] = []

    /// The visible values after each change.
    private(set) var stamps: [[String: String]] = []

    /// The last visible and known values.
    private(set) var known: [String: String] = [:]

    /// The types of events.
    private(set) var events: [String] = []

    init() {}

    /// Creates a Home Assistant that starts again, with the values that the user saw before.
    init(after other: HomeAssistant) { (stamps, known, events) = (other.stamps, other.known, other.events) }

    /// The values by entity; nil while they are unavailable.
    var visible: [String: String]? { isConnected && isOnline ? values : nil }

    mutating func receive(_ topic: String, _ payload: String) {
        switch topic {
        case "g/status":
            isOnline = payload == "online"
            // It ignores any other word.
            if isOnline || payload == "offline" { isTrackerAvailable = isOnline }
        case "g/region/shop/state": values["occupancy"] = ["inside": "on", "outside": "off"][payload] ?? "unknown"
        case "g/beacon/keys/state":
            guard let state = try? JSONSerialization.jsonObject(with: Data(payload.utf8)) as? [String: Any] else {
                return
            }
            let presence = state["presence"] as? String ?? ""
            values["presence"] = ["present": "on", "absent": "off"][presence] ?? "unknown"
            values["tracker"] = state["tracker"] as? String ?? "unknown"
            values["proximity"] = state["proximity"] as? String ?? "unknown"
            values["distance"] = (state["distance"] as? Double).map { "\(Int($0))" } ?? "unknown"
            values["place"] = state["place"] as? String ?? "unknown"
        case "g/region/shop/event", "g/beacon/keys/event":
            guard let event = try? JSONSerialization.jsonObject(with: Data(payload.utf8)) as? [String: String],
                let type = event["event_type"]
            else { return }
            events.append(type)
        default: return
        }
        stamp()
    }

    private mutating func stamp() {
        let tracker = isConnected && isTrackerAvailable ? values["tracker"] ?? "unknown" : "unavailable"
        if tracker != trackerStates.last ?? "unavailable" { trackerStates.append(tracker) }
        guard let visible, visible != stamps.last else { return }
        stamps.append(visible)
        for (entity, value) in visible where value != "unknown" { known[entity] = value }
    }
}
