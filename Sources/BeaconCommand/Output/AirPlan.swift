import BeaconModel
import BeaconSimulation
import BeaconSupport

/// The plan of a shared air that `beacon air` shows: walls, senders and listeners.
struct AirPlan {
    /// The width of the plan, which fits a terminal of 80 columns.
    private static let columns = 78

    /// The most lines of the plan, so that the list below it is visible too.
    private static let maximumRows = 16

    /// The ratio of a character's height to its width in most terminals' fonts.
    private static let stretch = 2.0

    private let members: [AirMemberStatus]
    private let style: TextStyle

    /// Creates a plan of the members of an air.
    init(_ members: [AirMemberStatus], style: TextStyle = .output) {
        self.members = members
        self.style = style
    }

    /// Returns the lines: a title, the plan, and a list of the members.
    func lines(title: String) -> [String] {
        let senders = members.reduce(0) { $0 + $1.beacons.count { $0.isOn } }
        let listeners = members.count(where: \.isListening)
        var lines = [
            style("beacon air  \(title)", .bold)
                + "  \(Self.count(senders, "beacon")) on the air, \(Self.count(listeners, "listener"))"
        ]
        guard !members.isEmpty else {
            return lines + [
                "", "The air is empty. Run in other terminals:", "  beacon advertise --uuid new --source \(title)@2,0",
                "  beacon range --source \(title)",
            ]
        }
        lines += [""] + drawing + [""]
        var sign = Signs()
        for member in members { lines += rows(of: member, &sign) }
        return lines
    }

    /// The signs of the members, in order.
    private struct Signs {
        private var beacons = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")[...]
        private var listeners = Array("123456789")[...]

        mutating func beacon() -> Character { beacons.popFirst() ?? "+" }
        mutating func listener() -> Character { listeners.popFirst() ?? "0" }
    }

    private func rows(of member: AirMemberStatus, _ signs: inout Signs) -> [String] {
        var rows: [String] = []
        let name = member.id.printable
        if let place = member.place {
            let what = member.isListening ? "listens" : member.beacons.isEmpty ? "is there" : "sends"
            if member.isListening || member.beacons.isEmpty {
                rows.append(style(" \(signs.listener()) ", .cyan) + " \(name) \(what) at \(place)")
            }
        } else {
            let people = member.people.map { "\($0.name.printable) at \($0.place)" }.joined(separator: ", ")
            let phones = member.phones == 0 ? "" : ", \(Self.count(member.phones, "phone")) that are not beacons"
            rows.append(" ☺  \(name)\(people.isEmpty ? "" : ": \(people)")\(phones)")
        }
        for beacon in member.beacons {
            let identity = "\(beacon.identity.uuid) \(beacon.identity.major)/\(beacon.identity.minor)"
            let state = beacon.isOn ? "" : ", switched off"
            let sender = member.place == nil ? "" : "  \(name)"
            rows.append(
                style(" \(signs.beacon()) ", beacon.isOn ? .green : .dim)
                    + " \(identity) at \(beacon.place)\(state)\(sender)")
        }
        return rows
    }

    // MARK: - Drawing

    private var drawing: [String] {
        let walls = members.flatMap(\.walls)
        var points = walls.flatMap { [$0.start, $0.end] }
        for member in members {
            points += member.beacons.map(\.place) + member.people.map(\.place)
            if let place = member.place { points.append(place) }
        }
        guard let first = points.first else { return [] }
        var (low, high) = (first, first)
        for point in points {
            (low.x, low.y) = (min(low.x, point.x), min(low.y, point.y))
            (high.x, high.y) = (max(high.x, point.x), max(high.y, point.y))
        }
        // A margin on all sides, and one scale for both directions.
        let margin = max(0.5, 0.04 * max(high.x - low.x, high.y - low.y))
        let width = high.x - low.x + 2 * margin
        let height = high.y - low.y + 2 * margin
        let scale = min(Double(Self.columns - 1) / width, Double(Self.maximumRows - 1) * Self.stretch / height)
        let size = (columns: Int(width * scale) + 1, rows: Int(height * scale / Self.stretch) + 1)
        let empty = Array(repeating: (sign: Character(" "), color: TextStyle.Ink?.none), count: size.columns)
        var cells = Array(repeating: empty, count: size.rows)
        func draw(_ sign: Character, _ color: TextStyle.Ink, at point: Point) {
            let column = Int((point.x - low.x + margin) * scale)
            let row = size.rows - 1 - Int((point.y - low.y + margin) * scale / Self.stretch)
            guard cells.indices.contains(row), cells[row].indices.contains(column) else { return }
            cells[row][column] = (sign, color)
        }
        for wall in walls {
            // Two steps for each character leave no gap.
            let steps = max(1, Int(2 * (abs(wall.end.x - wall.start.x) + abs(wall.end.y - wall.start.y)) * scale))
            for step in 0...steps {
                let part = Double(step) / Double(steps)
                draw(
                    "▒", .dim,
                    at: Point(
                        x: wall.start.x + (wall.end.x - wall.start.x) * part,
                        y: wall.start.y + (wall.end.y - wall.start.y) * part))
            }
        }
        var signs = Signs()
        for member in members {
            if let place = member.place, member.isListening || member.beacons.isEmpty {
                draw(signs.listener(), .cyan, at: place)
            }
            for beacon in member.beacons { draw(signs.beacon(), beacon.isOn ? .green : .dim, at: beacon.place) }
            for person in member.people { draw("☺", .yellow, at: person.place) }
        }
        var lines = cells.map { row in row.map { style(String($0.sign), $0.color) }.joined() }
        let meters = Self.rounded(Double(size.columns) / scale / 5)
        let bar = String(repeating: "─", count: max(0, Int(meters * scale) - 2))
        lines.append(style("├\(bar)┤ \(Self.text(meters)) m", .dim))
        return lines
    }

    /// Returns a round length for the scale: 1, 2 or 5 times a power of ten.
    private static func rounded(_ length: Double) -> Double {
        var unit = 0.1
        while unit * 10 <= length { unit *= 10 }
        return length >= 5 * unit ? 5 * unit : length >= 2 * unit ? 2 * unit : unit
    }

    private static func text(_ meters: Double) -> String { Int(exactly: meters).map(String.init) ?? String(meters) }

    private static func count(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }
}
