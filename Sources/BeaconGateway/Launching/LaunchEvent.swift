import BeaconEngine
import BeaconModel
import Foundation

/// What a program is told that is started for a region: the line that `beacon monitor --json` prints for the same event.
struct LaunchEvent: Encodable {
    private struct Region: Encodable {
        var name: String
        var constraint: BeaconConstraint

        private enum Key: String, CodingKey {
            case name, uuid, major, minor
        }

        func encode(to encoder: any Encoder) throws {
            var values = encoder.container(keyedBy: Key.self)
            try values.encode(name, forKey: .name)
            try values.encode(constraint.uuid.description, forKey: .uuid)
            try values.encode(constraint.major, forKey: .major)
            try values.encode(constraint.minor, forKey: .minor)
        }
    }

    private enum Key: String, CodingKey {
        case time, receiver, event, state, region
    }

    var event: LaunchRule.Event
    var name: String
    var constraint: BeaconConstraint
    var time: Timestamp
    var receiver: String?

    /// Writes the event.
    func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: Key.self)
        // Milliseconds, as everywhere: a decimal that says so, and not the binary number next to it.
        let milliseconds = (time.nanoseconds + 500_000) / 1_000_000
        try values.encode(Decimal(milliseconds) / 1000, forKey: .time)
        try values.encode(receiver, forKey: .receiver)
        try values.encode(event.rawValue, forKey: .event)
        try values.encode(event == .enter ? "inside" : "outside", forKey: .state)
        try values.encode(Region(name: name, constraint: constraint), forKey: .region)
    }

    /// The event as a line of JSON.
    var line: [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Words and numbers can always be encoded.
        let data = (try? encoder.encode(self)) ?? Data()
        return Array(data) + [UInt8(ascii: "\n")]
    }
}
