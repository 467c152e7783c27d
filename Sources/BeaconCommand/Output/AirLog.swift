import BeaconModel
import BeaconSimulation
import BeaconSupport

/// The changes of a shared air as lines of text, one for each device that has changed.
struct AirLog {
    private struct Known {
        var text: String
        var place: Point?
        /// The place at the last look; a device that walks is elsewhere by now.
        var last: Point?
    }

    private var known: [String: Known] = [:]

    /// Returns a line for each member that came, changed, came to rest at another place or left since the last call.
    mutating func changes(to members: [AirMemberStatus]) -> [String] {
        var lines: [String] = []
        var new: [String: Known] = [:]
        for member in members {
            let text = Self.text(of: member)
            let before = known[member.id]
            let hasMoved = before?.place != member.place && before?.last == member.place
            let isNew = before?.text != text || hasMoved
            if isNew {
                let place = member.place.map { " at \($0)" } ?? ""
                lines.append(member.id.printable + place + text)
            }
            new[member.id] = Known(text: text, place: isNew ? member.place : before?.place, last: member.place)
        }
        for id in known.keys.sorted() where new[id] == nil { lines.append("\(id.printable) has left") }
        known = new
        return lines
    }

    /// Returns what a member does: a beacon is named, several are counted.
    private static func text(of member: AirMemberStatus) -> String {
        var text = member.isListening ? ", listens" : ""
        let identities = member.beacons.filter(\.isOn).map(\.identity)
        if let first = identities.first, identities.count == 1 {
            text += ", sends \(first.uuid) \(first.major)/\(first.minor)"
        } else if let first = identities.first {
            let uuids = Set(identities.map(\.uuid))
            text +=
                ", sends \(identities.count) beacons of \(uuids.count == 1 ? "\(first.uuid)" : "\(uuids.count) UUIDs")"
        }
        if !member.people.isEmpty { text += ", \(member.people.count) walking" }
        if member.phones > 0 { text += ", \(member.phones) phone\(member.phones == 1 ? "" : "s") that are no beacons" }
        return text
    }
}
