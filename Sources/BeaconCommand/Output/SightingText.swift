import BeaconModel
import BeaconRadio

/// The lines that `scan` prints for people, at 80 columns.
enum SightingText {
    /// What stands over the columns.
    static let heading = "TIME         FROM    UUID                                 MAJOR MINOR POWER RSSI\n"

    /// Appends one line.
    static func append(_ sighting: Sighting, time: Timestamp?, receiver: [UInt8], to buffer: inout [UInt8]) {
        let clock = time.map { String(ClockText.dateAndTime($0).suffix(12)) } ?? "-"
        append(Array(clock.utf8), width: 13, to: &buffer)
        append(receiver, width: 8, to: &buffer)
        buffer.append(text: sighting.identity.uuid)
        append(number: Int(sighting.identity.major), width: 6, to: &buffer)
        append(number: Int(sighting.identity.minor), width: 6, to: &buffer)
        append(number: Int(sighting.measuredPower), width: 6, to: &buffer)
        append(number: Int(sighting.rssi.rawValue), width: 5, to: &buffer)
        buffer.append(UInt8(ascii: "\n"))
    }

    private static func append(_ text: [UInt8], width: Int, to buffer: inout [UInt8]) {
        buffer.append(contentsOf: text)
        buffer.append(contentsOf: repeatElement(UInt8(ascii: " "), count: max(1, width - text.count)))
    }

    private static func append(number: Int, width: Int, to buffer: inout [UInt8]) {
        let text = String(number).utf8
        buffer.append(contentsOf: repeatElement(UInt8(ascii: " "), count: max(1, width - text.count)))
        buffer.append(contentsOf: text)
    }
}
