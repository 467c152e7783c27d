import BeaconModel
import BeaconSupport

/// The lines that `places` prints for people.
enum PlaceText {
    /// Appends the lines of an event about places; ignores other events.
    static func append(_ event: BeaconEvent, to buffer: inout [UInt8]) {
        switch event {
        case .placed(let change): append(change, to: &buffer)
        case .located(let report): for beacon in report.beacons { append(beacon, to: &buffer) }
        default: break
        }
    }

    private static func append(_ event: PlaceEvent, to buffer: inout [UInt8]) {
        var text = "\(ClockText.dateAndTime(event.time))  \(event.identity)  \(place(of: event))"
        if let before = event.before, before != event.place { text += "  (was in \(before))" }
        buffer.append(contentsOf: (text.printable + "\n").utf8)
    }

    /// Returns the place of a beacon, or why it has none.
    static func place(of event: PlaceEvent) -> String {
        switch event.state {
        case .inside: event.place ?? "?"
        case .outside: "nowhere"
        case .unknown: "unknown"
        }
    }
}

/// The table that `places` shows on a terminal: each beacon's place, and its lead over the next place.
struct PlaceTable {
    private let title: String
    private let style = TextStyle.output
    private var screen = LiveScreen()

    private static let columns = "UUID                                  MAJOR/MINOR  PLACE           LEADS"

    /// - Parameter title: the title of the source, for the first line.
    init(title: String) { self.title = title }

    /// Draws one second over the one before.
    mutating func append(_ report: LocatingEvent, to buffer: inout [UInt8]) {
        let left = "beacon places  \(title)"
        let count = report.beacons.count
        let right = "\(ClockText.timeOfDay(report.time))  \(count) beacon\(count == 1 ? "" : "s")"
        var lines = [
            style(left + pad(max(2, 79 - left.count - right.count)) + right, .bold),
            style("  " + Self.columns, .dim), "",
        ]
        lines += report.beacons.map(row)
        if report.beacons.isEmpty { lines.append(style("  -", .dim)) }
        screen.append(lines, to: &buffer)
    }

    private func row(_ beacon: PlaceEvent) -> String {
        let numbers = "\(beacon.identity.major)/\(beacon.identity.minor)"
        let place = PlaceText.place(of: beacon).printable
        var lead = "-"
        if let margin = beacon.margin, let other = beacon.runnerUp {
            let whole = Int(margin.rounded())
            lead = whole < 0 ? "\(-whole) dB behind \(other.printable)" : "\(whole) dB ahead of \(other.printable)"
        }
        return "  \(beacon.identity.uuid)  " + numbers + pad(max(1, 11 - numbers.count)) + "  "
            + style(place, beacon.state == .inside ? .green : .dim) + pad(max(1, 16 - place.count)) + lead
    }

    private func pad(_ count: Int) -> String { String(repeating: " ", count: count) }
}
