import BeaconConfiguration
public import BeaconModel
import Foundation

/// The days and hours at which a rule runs.
public struct RuleSchedule: Hashable, Sendable, Codable {
    /// A calendar day.
    public struct Day: Hashable, Sendable, Codable, Comparable, CustomStringConvertible {
        /// The year.
        public var year: Int
        /// The month, from 1.
        public var month: Int
        /// The day of the month, from 1.
        public var day: Int

        /// Reads `2026-12-24`.
        ///
        /// - Returns: nil if there is no such day.
        public init?(_ text: String) {
            let parts = text.split(separator: "-", omittingEmptySubsequences: false).map { Int($0) }
            guard parts.count == 3, let year = parts[0], let month = parts[1], let day = parts[2],
                (1970...9999).contains(year),
                text.count == 10,
                DateComponents(
                    calendar: Calendar(identifier: .gregorian), timeZone: .gmt, year: year, month: month, day: day
                ).isValidDate
            else { return nil }
            (self.year, self.month, self.day) = (year, month, day)
        }

        init(year: Int, month: Int, day: Int) { (self.year, self.month, self.day) = (year, month, day) }

        /// Orders days by time.
        public static func < (left: Day, right: Day) -> Bool {
            (left.year, left.month, left.day) < (right.year, right.month, right.day)
        }

        /// The day in the form that ``init(_:)`` reads.
        public var description: String { String(format: "%04d-%02d-%02d", year, month, day) }
    }

    /// A span of a day, in minutes from midnight. If it ends before it begins, it continues past midnight.
    public struct Hours: Hashable, Sendable, Codable {
        /// The first minute.
        public var from: Int
        /// The minute after the last.
        public var to: Int

        /// Reads `09:00-17:30`.
        ///
        /// - Returns: nil if the hours are invalid.
        public init?(_ text: String) {
            let ends = text.split(separator: "-", omittingEmptySubsequences: false).map { Self.minutes(String($0)) }
            guard ends.count == 2, let from = ends[0], let to = ends[1], from != to, from < 1440 else { return nil }
            (self.from, self.to) = (from, to)
        }

        private static func minutes(_ text: String) -> Int? {
            let parts = text.trimmingCharacters(in: .whitespaces).split(
                separator: ":", omittingEmptySubsequences: false)
            guard parts.count == 2, parts[1].count == 2, let hour = Int(parts[0]), let minute = Int(parts[1]),
                (0...24).contains(hour), (0..<60).contains(minute), hour * 60 + minute <= 1440
            else { return nil }
            return hour * 60 + minute
        }
    }

    /// The abbreviations of the days of the week: Sunday is 1.
    static let dayWords = [("sun", 1), ("mon", 2), ("tue", 3), ("wed", 4), ("thu", 5), ("fri", 6), ("sat", 7)]

    /// The first day; nil for no limit.
    public var from: Day?
    /// The last day; nil for no limit.
    public var to: Day?
    /// The days of the week, Sunday being 1; nil for all.
    public var days: Set<Int>?
    /// The hours of a day; nil for all. Hours past midnight belong to the day on which they begin.
    public var hours: Hours?
    /// The time zone of days and hours.
    public var zone: RuleZone

    /// Creates a schedule of all days and hours.
    public init(zone: RuleZone = .machine) { self.zone = zone }

    /// Returns true if a time is within the schedule.
    public func contains(_ time: Timestamp) -> Bool {
        var now = zone.time(at: time)
        if let hours {
            if hours.from < hours.to {
                guard (hours.from..<hours.to).contains(now.minute) else { return false }
            } else if now.minute < hours.to {
                now = now.dayBefore
            } else if now.minute < hours.from {
                return false
            }
        }
        if let from, now.day < from { return false }
        if let to, now.day > to { return false }
        return days?.contains(now.weekday) ?? true
    }
}

extension RuleSchedule {
    private static let dayShape = SettingShape.text(pattern: "^[0-9]{4}-[0-9]{2}-[0-9]{2}$")

    /// The keys of days and hours.
    static let grammar = Grammar<Self>(
        RuleSchedule(),
        [
            Setting(
                "from", \.from, SettingKind(dayShape, "write a day, such as 2026-12-01", parse: Day.init),
                title: "First day",
                "The first day."),
            Setting(
                "to", \.to, SettingKind(dayShape, "write a day, such as 2026-12-24", parse: Day.init),
                title: "Last day",
                "The last day."),
            Setting(
                "days", \.days, .words(dayWords, shortest: 1), default: "all", title: "Days of the week",
                "The days of the week, such as `[sat, sun]`."),
            Setting(
                "hours", \.hours,
                SettingKind(
                    .text(pattern: "^ *[0-9]{1,2}:[0-9]{2} *- *[0-9]{1,2}:[0-9]{2} *$"),
                    "write two times of the day, such as \"09:00-17:30\"", parse: Hours.init),
                default: "all", "Two times of the day, such as `\"09:00-17:30\"`; they may continue past midnight."),
            Setting(
                "time-zone",
                SettingKind(.text(), "write the name of a time zone, such as Europe/Berlin") {
                    TimeZone(identifier: $0)
                },
                default: "the machine's", "The name of a time zone, such as Europe/Berlin."
            ) { $0.zone = .named($1) },
        ]
    ) { section, schedule, isWhole in
        if section.value("days") == [] {
            section.reportMissing("days", "write days of the week, such as [mon, tue], or no \"days\"")
        }
        if let from = schedule.from, let to = schedule.to, to < from {
            section.report(section.origin, "\"to\" is \(to), before \"from\", which is \(from); exchange them")
        }
        return isWhole
    }
}
