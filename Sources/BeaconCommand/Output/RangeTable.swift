import BeaconModel
import BeaconSupport

/// The table that `range` shows to people: beacons in sections by proximity, with distance, signal and a small bar.
///
/// On a terminal, the newest second replaces the one before. Any other output gets one second after another. The table
/// is readable at 80 columns and without color.
struct RangeTable {
    private let title: String
    private let names: [RegionArgument]
    private let isLive: Bool
    private let style = TextStyle.output
    private var second: [RangingEvent] = []
    private var screen = LiveScreen()

    private static let order: [Proximity] = [.immediate, .near, .far, .unknown]

    /// - Parameters:
    ///   - title: the title of the source, for the first line.
    ///   - names: the user's names for the regions.
    ///   - isLive: whether to draw over the previous second.
    init(title: String, names: [RegionArgument], isLive: Bool) {
        self.title = title
        self.names = names
        self.isLive = isLive
    }

    /// Adds a report, and writes the previous second when a new one begins.
    mutating func append(_ report: RangingEvent, to buffer: inout [UInt8]) {
        if let first = second.first, first.time != report.time {
            write(to: &buffer)
            second.removeAll()
        }
        second.append(report)
    }

    /// Writes the last second.
    mutating func appendRest(to buffer: inout [UInt8]) {
        if !second.isEmpty { write(to: &buffer) }
        second.removeAll()
    }

    private mutating func write(to buffer: inout [UInt8]) {
        let lines = drawing
        if isLive {
            screen.append(lines, to: &buffer)
        } else {
            for line in lines { buffer.append(contentsOf: (line + "\n").utf8) }
        }
    }

    // MARK: - Drawing

    private var drawing: [String] {
        guard let time = second.first?.time else { return [] }
        let count = Set(second.flatMap { event in event.beacons.map { Key(event.receiver, $0) } }).count
        let left = "beacon range  \(title)"
        let right = "\(ClockText.timeOfDay(time))  \(count) beacon\(count == 1 ? "" : "s")"
        var lines = [
            style(left + pad(max(2, 79 - left.count - right.count)) + right, .bold),
            style("  " + Self.columns, .dim),
        ]
        let hasSeveral = second.count > 1
        for report in second {
            if hasSeveral {
                lines.append(style("\(name(of: report.constraint)) at \(report.receiver.printable)", .bold))
            }
            for proximity in Self.order {
                let beacons = report.beacons.filter { $0.proximity == proximity }
                guard !beacons.isEmpty || (isLive && !hasSeveral) else { continue }
                if isLive { lines.append("") }
                lines.append(style(Self.heading(proximity), Self.color(proximity)))
                lines += beacons.map { row($0) }
                if beacons.isEmpty { lines.append(style("  -", .dim)) }
            }
            if report.beacons.isEmpty, !isLive || hasSeveral { lines.append(style("  no beacons", .dim)) }
        }
        if second.contains(where: { $0.beacons.contains(where: \.isCalibrated) }) {
            lines.append(style("  * uses the power that 'beacon calibrate' measured", .dim))
        }
        if second.contains(where: { $0.beacons.contains { $0.isUncalibrated && $0.accuracy >= 0 } }) {
            let power = IBeaconFrame.defaultMeasuredPower
            lines.append(style("  ? uncalibrated: run 'beacon calibrate'; \(power) dBm at 1 m is assumed", .dim))
        }
        if !isLive { lines.append("") }
        return lines
    }

    private struct Key: Hashable {
        var receiver: String
        var address: DeviceAddress
        var identity: BeaconIdentity

        init(_ receiver: String, _ beacon: RangedBeacon) {
            self.receiver = receiver
            address = beacon.address
            identity = beacon.identity
        }
    }

    private static let columns = "UUID                                 MAJOR/MINOR       ≈DISTANCE    RSSI"

    private func row(_ beacon: RangedBeacon) -> String {
        let numbers = "\(beacon.identity.major)/\(beacon.identity.minor)"
        let distance = Self.distance(of: beacon)
        let signal = beacon.rssi == 0 ? "-" : "\(beacon.rssi) dBm"
        return "  \(beacon.identity.uuid) " + numbers + pad(max(1, 11 - numbers.count))
            + pad(max(1, 23 - distance.count - max(7, signal.count))) + distance + pad(max(1, 8 - signal.count))
            + signal + " "
            + style(Self.bar(beacon.rssi), Self.color(beacon.proximity))
    }

    /// Returns a bar of five steps from -95 dBm, where adverts start to get lost, to -45 dBm, the signal at a hand's
    /// breadth.
    static func bar(_ rssi: Int) -> String {
        guard rssi != 0 else { return "·····" }
        let steps = min(max((rssi + 95) / 10 + 1, 1), 5)
        return "▂▃▅▆█".prefix(steps) + String(repeating: "·", count: 5 - steps)
    }

    /// Returns a distance with its range, such as `2 m (1–4)`, with significant digits only; `more than 7 m` without
    /// an upper end; `-` if it is unknown.
    static func distance(of beacon: RangedBeacon) -> String {
        guard beacon.accuracy >= 0 else { return "-" }
        let mark = beacon.isCalibrated ? "*" : beacon.isUncalibrated ? "?" : ""
        if let least = beacon.leastDistance { return "more than \(meters(least)) m\(mark)" }
        guard let range = beacon.accuracyRange else { return meters(beacon.accuracy) + " m" + mark }
        let (nearest, farthest) = (meters(range.lowerBound, below: 0.95), meters(range.upperBound, below: 0.95))
        return "\(meters(beacon.accuracy)) m\(mark) (\(nearest)–\(farthest))"
    }

    /// Returns meters, with one decimal below a limit.
    private static func meters(_ distance: Double, below limit: Double = 1.95) -> String {
        var buffer: [UInt8] = []
        buffer.append(fixed: min(distance, 999), decimals: distance < limit ? 1 : 0)
        return String(decoding: buffer, as: UTF8.self)
    }

    private static func heading(_ proximity: Proximity) -> String {
        switch proximity {
        case .immediate: "Immediate"
        case .near: "Near"
        case .far: "Far"
        case .unknown: "Unknown"
        }
    }

    private static func color(_ proximity: Proximity) -> TextStyle.Ink {
        switch proximity {
        case .immediate: .green
        case .near: .cyan
        case .far: .yellow
        case .unknown: .dim
        }
    }

    private func name(of constraint: BeaconConstraint?) -> String {
        guard let constraint else { return "Every beacon" }
        return names.first { $0.constraint == constraint }?.name ?? constraint.description
    }

    private func pad(_ count: Int) -> String { String(repeating: " ", count: count) }
}
