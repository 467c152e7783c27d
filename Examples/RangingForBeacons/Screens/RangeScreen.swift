import CoreLocation

/// The screen on which the user looks for beacons.
final class RangeScreen: AppScreen {
    private let ranger: BeaconRanger
    private let defaultUUID: String
    /// The UUID that the user is typing; nil without one.
    private var typed: String?
    private var refusal: String?
    /// The index of the UUID to remove; nil if none is chosen.
    private var chosen: Int?

    init(_ ranger: BeaconRanger, defaultUUID: String) {
        self.ranger = ranger
        self.defaultUUID = defaultUUID
    }

    let title = "Range for Beacons"

    var keys: [String] {
        if typed != nil { return ["Enter add", "Esc cancel"] }
        if chosen != nil { return ["↑↓ choose", "Enter remove", "Esc cancel"] }
        return ["a add"] + (ranger.uuids.isEmpty ? [] : ["r remove"])
    }

    // MARK: - Drawing

    func draw() -> (lines: [StyledLine], cursor: (row: Int, column: Int)?) {
        var lines = [StyledLine()]
        var cursor: (row: Int, column: Int)?
        if let typed {
            lines.append(StyledLine("  Add a UUID: " + typed, .bold))
            cursor = (1, 14 + typed.count)
            lines.append(StyledLine("  " + (refusal ?? ""), .red))
        }
        for (place, uuid) in ranger.uuids.enumerated() {
            var line = StyledLine(place == chosen ? "  › " : "    ", .bold)
            line.append(uuid.uuidString, place == chosen ? .inverse : .plain)
            line.append("  " + text(ranger.states[uuid]), .dim)
            lines.append(line)
        }
        if ranger.uuids.isEmpty, typed == nil { lines.append(StyledLine("  Press a to add a UUID to look for.", .dim)) }
        if let problem = ranger.problem { lines.append(StyledLine("  " + problem, .red)) }
        guard !ranger.uuids.isEmpty else { return (lines, cursor) }
        for section in ranger.sections {
            lines += [StyledLine(), StyledLine("  " + section.proximity.title, color(section.proximity))]
            lines += section.beacons.map(row)
            if section.beacons.isEmpty { lines.append(StyledLine("    -", .dim)) }
        }
        return (lines, cursor)
    }

    private func text(_ state: CLRegionState?) -> String {
        switch state {
        case .inside: "inside, ranging"
        case .outside: "outside, monitoring"
        default: "monitoring"
        }
    }

    private func color(_ proximity: CLProximity) -> StyledLine.Style {
        switch proximity {
        case .immediate: .green
        case .near: .cyan
        case .far: .yellow
        default: .dim
        }
    }

    private func row(_ beacon: CLBeacon) -> StyledLine {
        var line = StyledLine("    ")
        if ranger.uuids.count > 1 { line.append(beacon.uuid.uuidString.prefix(8) + "… ", .dim) }
        let start = line.count
        line.append("\(beacon.major)/\(beacon.minor)", .bold)
        line.pad(to: start + 12)
        line.append(distance(beacon))
        line.pad(to: start + 33)
        line.append(beacon.rssi == 0 ? "      -" : "\(beacon.rssi) dBm")
        line.pad(to: start + 42)
        line.append(beacon.measuredPower.map { "\($0) dBm at 1 m" } ?? "not calibrated", .dim)
        line.pad(to: start + 58)
        line.append(beacon.advertisingInterval.map { "every \(milliseconds($0)) ms" } ?? "", .dim)
        return line
    }

    /// Returns a distance with its range, such as `2.0 m (1.3 to 4.1)`, or `more than 7 m` without an upper end.
    private func distance(_ beacon: CLBeacon) -> String {
        guard let range = beacon.accuracyRange else { return "-" }
        guard range.upperBound < .infinity else { return "more than \(Int(range.lowerBound.rounded())) m" }
        let places = range.upperBound < 10 ? 1 : 0
        func text(_ meters: Double) -> String { String(format: "%.\(places)f", min(meters, 999)) }
        return "\(text(beacon.accuracy)) m (\(text(range.lowerBound)) to \(text(range.upperBound)))"
    }

    private func milliseconds(_ duration: Duration) -> Int { Int((duration / .milliseconds(1)).rounded()) }

    // MARK: - Keys

    func handle(_ key: Key) -> Bool {
        if typed != nil { return type(key) }
        if chosen != nil { return choose(key) }
        switch key {
        case .character("a"):
            // The UUID of the sample, unless it is already in the list.
            let isNew = !ranger.uuids.contains { $0.uuidString == defaultUUID }
            typed = isNew ? defaultUUID : ""
            refusal = nil
        case .character("r"), .delete:
            guard !ranger.uuids.isEmpty else { return false }
            if ranger.uuids.count == 1 { ranger.remove(ranger.uuids[0]) } else { chosen = 0 }
        default: return false
        }
        return true
    }

    private func type(_ key: Key) -> Bool {
        switch key {
        case .escape: typed = nil
        case .delete: typed = String((typed ?? "").dropLast())
        case .enter:
            guard let uuid = UUID(uuidString: typed ?? "") else {
                refusal = "A UUID has 32 hexadecimal digits: 8, 4, 4, 4 and 12, with hyphens between."
                return true
            }
            guard !ranger.uuids.contains(uuid) else {
                refusal = "This UUID is already in the list."
                return true
            }
            typed = nil
            ranger.add(uuid)
        case .character(let character):
            if !character.isHexDigit && character != "-" {
                refusal = "A UUID has hexadecimal digits and hyphens only."
            } else if (typed ?? "").count >= 36 {
                refusal = "A UUID has 36 characters."
            } else {
                typed = (typed ?? "") + character.uppercased()
                refusal = nil
            }
        default: return false
        }
        return true
    }

    private func choose(_ key: Key) -> Bool {
        let count = ranger.uuids.count
        switch key {
        case .escape: chosen = nil
        case .tab, .down: chosen = ((chosen ?? 0) + 1) % count
        case .backTab, .up: chosen = ((chosen ?? 0) + count - 1) % count
        case .enter, .character("r"), .delete:
            if let chosen, chosen < count { ranger.remove(ranger.uuids[chosen]) }
            chosen = nil
        default: return false
        }
        return true
    }

    func leave() { ranger.leave() }
}
