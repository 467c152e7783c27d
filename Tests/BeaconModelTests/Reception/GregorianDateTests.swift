import BeaconModel
import Testing

/// Tests of dates by the number of days since 1970.
struct GregorianDateTests {
    @Test(
        "A date and its number of days convert into each other",
        arguments: [
            (0, (1970, 1, 1)), (-1, (1969, 12, 31)), (58, (1970, 2, 28)), (59, (1970, 3, 1)), (11_016, (2000, 2, 29)),
            (11_017, (2000, 3, 1)), (20_778, (2026, 11, 21)), (47_540, (2100, 2, 28)), (47_541, (2100, 3, 1)),
        ] as [(Int, (Int, Int, Int))])
    func known(days: Int, parts: (Int, Int, Int)) {
        let date = GregorianDate(year: parts.0, month: parts.1, day: parts.2)
        #expect(date.daysSince1970 == days)
        #expect(GregorianDate(daysSince1970: days) == date)
    }

    @Test("Each day of 800 years comes after the day before, in months of 28 to 31 days")
    func eachDay() {
        var before = GregorianDate(daysSince1970: -100_000)
        for days in -99_999..<192_194 {
            let date = GregorianDate(daysSince1970: days)
            let isNextDay = date.month == before.month && date.day == before.day + 1
            let isNextMonth = date.month == before.month % 12 + 1 && date.day == 1 && (28...31).contains(before.day)
            guard isNextDay || isNextMonth, date.daysSince1970 == days else {
                Issue.record("\(date) is not the day after \(before)")
                return
            }
            before = date
        }
    }
}
