import BeaconSupport
package import Foundation

/// A moment as people write it.
package enum Moment {
    /// The forms, for help and errors.
    package static let forms =
        "a time such as 22:00, \"yesterday 22:00\", \"2026-11-28 22:00\", 2h for two hours ago, or seconds since 1970"

    /// Returns the seconds since 1970 of a moment; nil for other text.
    ///
    /// A time without a day is the last one before now.
    package static func seconds(_ text: String, now: Date, calendar: Calendar = .current) -> Double? {
        let words = text.lowercased().split(whereSeparator: { $0 == " " || $0 == "t" && text.contains("-") })
        guard let first = words.first, words.count <= 2 else { return nil }
        if words.count == 1 {
            if first == "now" { return now.timeIntervalSince1970 }
            if let number = Double(first) { return number }
            if let ago = DurationText.duration(first) { return now.timeIntervalSince1970 - ago / .seconds(1) }
            if let today = time(first, on: now, calendar) {
                return today <= now ? today.timeIntervalSince1970 : today.timeIntervalSince1970 - 86_400
            }
        }
        let day: Date
        switch first {
        case "today": day = now
        case "yesterday": day = now.addingTimeInterval(-86_400)
        default:
            let parts = first.split(separator: "-").map { Int($0) }
            guard parts.count == 3, let year = parts[0], let month = parts[1], let number = parts[2],
                (1...12).contains(month), (1...31).contains(number),
                let date = calendar.date(from: DateComponents(year: year, month: month, day: number, hour: 12))
            else { return nil }
            day = date
        }
        guard words.count == 2 else { return calendar.startOfDay(for: day).timeIntervalSince1970 }
        return time(words[1], on: day, calendar)?.timeIntervalSince1970
    }

    private static func time(_ text: some StringProtocol, on day: Date, _ calendar: Calendar) -> Date? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false).map { Int($0) }
        guard (2...3).contains(parts.count), let hour = parts[0], let minute = parts[1], (0...23).contains(hour),
            (0...59).contains(minute), let second = parts.count == 3 ? parts[2] : 0, (0...59).contains(second)
        else { return nil }
        return calendar.date(bySettingHour: hour, minute: minute, second: second, of: day)
    }
}
