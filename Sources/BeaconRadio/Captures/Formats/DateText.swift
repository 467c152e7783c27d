import BeaconModel

/// Dates as `hcidump -t` prints them: `2026-11-21 10:11:12.345678`.
enum DateText {
    /// Reads a date at the beginning of a line.
    ///
    /// - Returns: nil if there is none; otherwise the moment, taken as UTC, and where the next word begins.
    static func parse(_ line: ArraySlice<UInt8>) -> (Timestamp, Int)? {
        var index = line.startIndex
        func number(_ digits: Int, then separator: Character?) -> Int? {
            guard index + digits <= line.endIndex else { return nil }
            var value = 0
            for character in line[index..<index + digits] {
                guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(character) else { return nil }
                value = value * 10 + Int(character - UInt8(ascii: "0"))
            }
            index += digits
            if let separator {
                guard index < line.endIndex, line[index] == separator.asciiValue else { return nil }
                index += 1
            }
            return value
        }
        guard let year = number(4, then: "-"), let month = number(2, then: "-"), let day = number(2, then: " "),
            let hour = number(2, then: ":"), let minute = number(2, then: ":"), let second = number(2, then: "."),
            let microsecond = number(6, then: " "), (1...12).contains(month), (1...31).contains(day)
        else { return nil }
        let seconds = daysSince1970(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second
        // Four digits hold years that nanoseconds in 64 bits do not.
        let time = Timestamp(seconds: Double(seconds)) ?? (seconds < 0 ? .zero : .latest)
        return (time.advanced(by: Int64(microsecond) * 1000), index)
    }

    /// Days from 1970-01-01 in the Gregorian calendar. Years begin in March, so that a leap day comes last.
    private static func daysSince1970(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let shifted = month > 2 ? year : year - 1
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return 365 * shifted + shifted / 4 - shifted / 100 + shifted / 400 + dayOfYear - 719_468
    }
}
