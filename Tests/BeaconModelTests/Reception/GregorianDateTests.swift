import BeaconModel
import Testing

/// Tests of dates by the number of days since 1970.
struct GregorianDateTests {
    @Test(
        "A date and its number of days belong together",
        arguments: [
            (0, GregorianDate(year: 1970, month: 1, day: 1)), (-1, GregorianDate(year: 1969, month: 12, day: 31)),
            (58, GregorianDate(year: 1970, month: 2, day: 28)), (59, GregorianDate(year: 1970, month: 3, day: 1)),
            (11_016, GregorianDate(year: 2000, month: 2, day: 29)), (11_017, GregorianDate(year: 2000, month: 3, day: 1)),
            (20_778, GregorianDate(year: 2026, month: 11, day: 21)), (47_540, GregorianDate(year: 2100, month: 2, day: 28)),
            (47_541, GregorianDate(year: 2100, month: 3, day: 1)),
        ])
    func known(days: Int, date: GregorianDate) {
        #expect(date.daysSince1970 == days)
        #expect(GregorianDate(daysSince1970: days) == date)
    }

    @Test("Each day of 800 years comes after the day before, in months of 28 to 31 days")
    func eachDay() {
        var before = GregorianDate(daysSince1970: -100_000)
        for days in -99_999..<192_194 {
            let date = GregorianDate(daysSince1970: days)
            #expect(date.daysSince1970 == days)
            let isNextDay = date.month == before.month && date.day == before.day + 1
            let isNextMonth = date.month == before.month % 12 + 1 && date.day == 1 && (28...31).contains(before.day)
            guard isNextDay || isNextMonth else {
                Issue.record("\(date) follows \(before)")
                return
            }
            before = date
        }
    }
}
