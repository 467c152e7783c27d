import BeaconModel

extension RawSpan {
    /// Returns a time in seconds since 1970: a number of seconds, milliseconds, microseconds or nanoseconds, whose size
    /// determines the unit, or a date and time of ISO 8601. Returns nil for anything else.
    func secondsSince1970(_ value: JSONToken) -> Double? {
        guard let number = number(value) else { return string(value, limit: 64).flatMap(DateTimeText.seconds) }
        return switch number {
        case ..<1e11: number
        case ..<1e14: number / 1e3
        case ..<1e17: number / 1e6
        default: number / 1e9
        }
    }
}

/// A date and time of ISO 8601, such as `2026-11-27T19:00:00.5+01:00`: also with a space for the T, without hyphens and
/// colons, and without seconds.
private enum DateTimeText {
    /// Returns the seconds since 1970; nil if the text has another form. A time without a zone counts as UTC: only its
    /// distance to other times of the same clock matters.
    static func seconds(_ text: String) -> Double? {
        let parts = text.split(maxSplits: 1, omittingEmptySubsequences: false) { "Tt ".contains($0) }
        guard parts.count == 2, let date = numbers(parts[0], "-", [4, 2, 2]), (1...12).contains(date[1]),
            (1...31).contains(date[2])
        else { return nil }
        let clock = parts[1].prefix { !"Zz+-".contains($0) }
        let zone = parts[1][clock.endIndex...]
        let (whole, fraction) = (clock.prefix { !".,".contains($0) }, clock.drop { !".,".contains($0) }.dropFirst())
        guard let time = numbers(whole, ":", [2, 2, 2]) ?? numbers(whole, ":", [2, 2]), time[0] < 24, time[1] < 60,
            // 60 is a leap second.
            time.count == 2 || time[2] <= 60, fraction.isEmpty == (whole.count == clock.count),
            let part = Double("0.\(fraction)0"),
            let offset = zone.isEmpty || zone.lowercased() == "z"
                ? [] : numbers(zone.dropFirst(), ":", [2, 2]) ?? numbers(zone.dropFirst(), ":", [2])
        else { return nil }
        let days = GregorianDate(year: date[0], month: date[1], day: date[2]).daysSince1970
        let ahead = zip(offset, [3600, 60]).reduce(0) { $0 + $1.0 * $1.1 } * (zone.first == "-" ? -1 : 1)
        return Double(days * 86_400 - ahead + zip(time, [3600, 60, 1]).reduce(0) { $0 + $1.0 * $1.1 }) + part
    }

    /// Returns numbers of these widths, all or none of them separated; nil for other text.
    private static func numbers(_ text: Substring, _ separator: Character, _ widths: [Int]) -> [Int]? {
        let isSeparated = text.contains(separator)
        var (rest, numbers): (Substring, [Int]) = (text, [])
        for width in widths {
            if isSeparated, !numbers.isEmpty, rest.popFirst() != separator { return nil }
            let digits = rest.prefix(width)
            guard digits.utf8.count == width, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
            numbers.append(Int(digits) ?? 0)
            rest = rest.dropFirst(width)
        }
        return rest.isEmpty ? numbers : nil
    }
}
