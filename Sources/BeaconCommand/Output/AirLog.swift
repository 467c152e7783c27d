import BeaconModel
import BeaconSimulation
import BeaconSupport

/// The changes of a shared air as lines of text, one for each changed device.
struct AirLog {
    private struct Known {
        var text: String
        var place: Point?
        /// The place at the last update, which a walking device has left by the next one.
        var last: Point?
    }

    private var known: [String: Known] = [:]

    /// Returns a line for each member that appeared, changed, stopped at another place or left since the last call.
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

    /// Returns the activity of a member: the identity of one beacon, or the number of several.
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
        if member.phones > 0 { text += ", \(member.phones) phone\(member.phones == 1 ? "" : "s") that are not beacons" }
        return text
    }
}
