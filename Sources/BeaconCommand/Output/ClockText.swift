import BeaconModel

/// Moments as people read them, in UTC.
enum ClockText {
    /// `2026-11-21 10:11:12.345`.
    static func dateAndTime(_ time: Timestamp) -> String {
        let milliseconds = (time.nanoseconds + 500_000) / 1_000_000
        let days = milliseconds / 86_400_000
        let (year, month, day) = date(daysSince1970: Int(days))
        return "\(year)-\(two(month))-\(two(day)) \(timeOfDay(milliseconds)).\(three(Int(milliseconds % 1000)))"
    }

    /// `10:11:12`.
    static func timeOfDay(_ time: Timestamp) -> String { timeOfDay(time.nanoseconds / 1_000_000) }

    private static func timeOfDay(_ milliseconds: Int64) -> String {
        let seconds = Int(milliseconds / 1000 % 86_400)
        return "\(two(seconds / 3600)):\(two(seconds / 60 % 60)):\(two(seconds % 60))"
    }

    /// The Gregorian date, by counting in spans of 400 years that begin in March, so that a leap day comes last.
    private static func date(daysSince1970: Int) -> (year: Int, month: Int, day: Int) {
        let days = daysSince1970 + 719_468
        let era = days / 146_097
        let dayOfEra = days % 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let month = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * month + 2) / 5 + 1
        let isAfterDecember = month >= 10
        return (yearOfEra + era * 400 + (isAfterDecember ? 1 : 0), isAfterDecember ? month - 9 : month + 3, day)
    }

    private static func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }

    private static func three(_ number: Int) -> String {
        number < 10 ? "00\(number)" : number < 100 ? "0\(number)" : "\(number)"
    }
}
