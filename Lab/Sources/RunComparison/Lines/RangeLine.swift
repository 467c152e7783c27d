/// A line of `beacon range --json`.
struct RangeLine: Decodable, Hashable {
    /// The constraint of the line.
    struct Region: Decodable, Hashable {
        var uuid: String
        var major: UInt16?
        var minor: UInt16?
    }

    /// A ranged beacon.
    struct Beacon: Decodable, Hashable {
        var uuid: String
        var major: UInt16
        var minor: UInt16
        var proximity: String

        /// The beacon's identity, without its address, which may change.
        var identity: String { "\(uuid)/\(major)/\(minor)" }
    }

    /// Seconds since 1970.
    var time: Double
    var receiver: String
    var region: Region?
    var beacons: [Beacon]

    /// The key that distinguishes the lines of a tick.
    var stream: String {
        guard let region else { return receiver }
        let numbers = [region.major, region.minor].map { $0.map(String.init) ?? "*" }
        return "\(receiver) \(region.uuid)/\(numbers.joined(separator: "/"))"
    }

    /// The nearest proximity of each beacon. A beacon that has just changed its address is listed twice for a while.
    var proximities: [String: String] {
        let ranks = ["immediate": 0, "near": 1, "far": 2]
        return Dictionary(beacons.map { ($0.identity, $0.proximity) }) { left, right in
            ranks[left, default: 3] <= ranks[right, default: 3] ? left : right
        }
    }
}
