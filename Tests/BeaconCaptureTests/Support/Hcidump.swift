import BeaconModel
import Foundation

/// Builds the text of `hcidump -R`.
enum Hcidump {
    /// Returns the text of a packet: twenty bytes per line, each followed by a space.
    static func packet(_ bytes: [UInt8], lineEnd: String = "\n") -> String {
        var text = ">"
        for (index, byte) in bytes.enumerated() {
            if index % 20 == 0 { text += index == 0 ? " " : lineEnd + "  " }
            let digits = String(byte, radix: 16, uppercase: true)
            text += (digits.count < 2 ? "0" : "") + digits + " "
        }
        return text + lineEnd
    }

    /// Returns the date that `-t` prints before a packet.
    static func date(microseconds: Int64) -> String {
        let style = Date.ISO8601FormatStyle(dateSeparator: .dash, dateTimeSeparator: .space)
        let date = Date(timeIntervalSince1970: Double(microseconds / 1_000_000)).formatted(
            style.year().month().day().time(includingFractionalSeconds: false))
        return "\(date).\(String(1_000_000 + microseconds % 1_000_000).dropFirst())"
    }
}
