import BeaconModel

/// Moments as RFC 3339 writes them, in UTC with milliseconds.
enum InternetTime {
    static func text(of time: Timestamp) -> String {
        let milliseconds = time.milliseconds
        let (days, inDay) = (milliseconds / 86_400_000, milliseconds % 86_400_000)
        let (year, month, day) = date(ofDay: days)
        let (hour, minute) = (inDay / 3_600_000, inDay / 60_000 % 60)
        let (second, fraction) = (inDay / 1000 % 60, inDay % 1000)
        return "\(digits(year, 4))-\(digits(month, 2))-\(digits(day, 2))"
            + "T\(digits(hour, 2)):\(digits(minute, 2)):\(digits(second, 2)).\(digits(fraction, 3))Z"
    }

    /// The Gregorian date of a day since 1970. Years are taken to begin in March, so that leap days come last, in eras of
    /// 400 years (146 097 days), of which 1970 lies 719 468 days into the first.
    private static func date(ofDay day: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = day + 719_468
        let era = shifted / 146_097
        let inEra = shifted % 146_097
        let yearInEra = (inEra - inEra / 1460 + inEra / 36_524 - inEra / 146_096) / 365
        let inYear = inEra - (365 * yearInEra + yearInEra / 4 - yearInEra / 100)
        let shiftedMonth = (5 * inYear + 2) / 153
        let dayOfMonth = inYear - (153 * shiftedMonth + 2) / 5 + 1
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        return (era * 400 + yearInEra + (month <= 2 ? 1 : 0), month, dayOfMonth)
    }

    private static func digits(_ number: Int64, _ count: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(count - text.count, 0)) + text
    }
}
