import BeaconModel
import BeaconSupport

/// The lines that `scan` prints for people, at 80 columns.
enum SightingText {
    /// The heading of the columns.
    static let heading = "TIME         FROM    UUID                                 MAJOR MINOR POWER RSSI\n"

    /// Appends one line.
    static func append(_ sighting: Sighting, time: Timestamp?, receiver: [UInt8], to buffer: inout [UInt8]) {
        let clock = time.map { String(ClockText.dateAndTime($0).suffix(12)) } ?? "-"
        append(Array(clock.utf8), width: 13, to: &buffer)
        append(receiver, width: 8, to: &buffer)
        buffer.append(text: sighting.identity.uuid)
        append(number: Int(sighting.identity.major), width: 6, to: &buffer)
        append(number: Int(sighting.identity.minor), width: 6, to: &buffer)
        let isPowerGiven = sighting.measuredPower != IBeaconFrame.unavailableMeasuredPower
        append(number: isPowerGiven ? Int(sighting.measuredPower) : nil, width: 6, to: &buffer)
        append(number: Int(sighting.rssi.rawValue), width: 5, to: &buffer)
        buffer.append(UInt8(ascii: "\n"))
    }

    private static func append(_ text: [UInt8], width: Int, to buffer: inout [UInt8]) {
        buffer.append(contentsOf: text)
        buffer.append(contentsOf: repeatElement(UInt8(ascii: " "), count: max(1, width - text.count)))
    }

    private static func append(number: Int?, width: Int, to buffer: inout [UInt8]) {
        let text = (number.map(String.init) ?? "-").utf8
        buffer.append(contentsOf: repeatElement(UInt8(ascii: " "), count: max(1, width - text.count)))
        buffer.append(contentsOf: text)
    }
}

/// The lines that `monitor` prints for people.
enum EventText {
    /// Appends one line.
    static func append(_ event: RegionEvent, to buffer: inout [UInt8]) {
        var text = "\(ClockText.dateAndTime(event.time))  \(event.kind)"
        text += String(repeating: " ", count: max(0, 5 - event.kind.rawValue.count))
        text += "  \(event.name.printable)"
        if event.kind == .state { text += " is \(event.state)" }
        if let receiver = event.receiver { text += "  (\(receiver.printable))" }
        buffer.append(contentsOf: (text + "\n").utf8)
    }
}

/// Times in UTC, as text.
enum ClockText {
    /// Returns date and time, as in `2026-11-21 10:11:12.345`.
    static func dateAndTime(_ time: Timestamp) -> String {
        let milliseconds = (time.nanoseconds + 500_000) / 1_000_000
        let date = GregorianDate(daysSince1970: Int(milliseconds / 86_400_000))
        let day = "\(date.year)-\(two(date.month))-\(two(date.day))"
        return "\(day) \(timeOfDay(milliseconds)).\(three(Int(milliseconds % 1000)))"
    }

    /// Returns the time of day, as in `10:11:12`.
    static func timeOfDay(_ time: Timestamp) -> String { timeOfDay(time.nanoseconds / 1_000_000) }

    private static func timeOfDay(_ milliseconds: Int64) -> String {
        let seconds = Int(milliseconds / 1000 % 86_400)
        return "\(two(seconds / 3600)):\(two(seconds / 60 % 60)):\(two(seconds % 60))"
    }

    private static func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }

    private static func three(_ number: Int) -> String {
        number < 10 ? "00\(number)" : number < 100 ? "0\(number)" : "\(number)"
    }
}
