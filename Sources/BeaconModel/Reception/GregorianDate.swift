/// A date of the Gregorian calendar, counted from 1970 in days.
///
/// The arithmetic counts years from March, so that a leap day is the last day of its year. A span of 400 years has the
/// same number of days whenever it begins.
package struct GregorianDate: Hashable, Sendable {
    package var year: Int
    /// The month, from 1 to 12.
    package var month: Int
    /// The day of the month, from 1. A day after the month's last one counts as a day of the next month.
    package var day: Int

    /// The days from 1 March of the year 0 to 1 January 1970.
    private static let daysBefore1970 = 719_468
    private static let daysOf400Years = 146_097

    /// Creates a date from its parts.
    package init(year: Int, month: Int, day: Int) {
        (self.year, self.month, self.day) = (year, month, day)
    }

    /// Creates the date a number of days after 1970-01-01; at the earliest 0000-03-01.
    package init(daysSince1970: Int) {
        let days = daysSince1970 + Self.daysBefore1970
        let dayOfSpan = days % Self.daysOf400Years
        let yearOfSpan = (dayOfSpan - dayOfSpan / 1460 + dayOfSpan / 36_524 - dayOfSpan / 146_096) / 365
        let dayOfYear = dayOfSpan - (365 * yearOfSpan + yearOfSpan / 4 - yearOfSpan / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let isAfterDecember = monthFromMarch >= 10
        year = yearOfSpan + days / Self.daysOf400Years * 400 + (isAfterDecember ? 1 : 0)
        month = isAfterDecember ? monthFromMarch - 9 : monthFromMarch + 3
        day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
    }

    /// The days from 1970-01-01 to this date; negative before it.
    package var daysSince1970: Int {
        let shifted = month > 2 ? year : year - 1
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return 365 * shifted + shifted / 4 - shifted / 100 + shifted / 400 + dayOfYear - Self.daysBefore1970
    }
}
