public import BeaconModel
import CLibrary
public import Foundation

/// A local date and time of day.
public struct LocalTime: Hashable, Sendable {
    /// The date.
    public var day: RuleSchedule.Day
    /// The day of the week: Sunday is 1.
    public var weekday: Int
    /// The minute of the day.
    public var minute: Int

    /// The same time on the day before.
    var dayBefore: LocalTime {
        // timegm(3) reads day 0 of a month as the last day of the previous month.
        var parts = tm()
        parts.tm_year = Int32(day.year - 1900)
        parts.tm_mon = Int32(day.month - 1)
        parts.tm_mday = Int32(day.day - 1)
        var seconds = timegm(&parts)
        gmtime_r(&seconds, &parts)
        var result = LocalTime(parts)
        result.minute = minute
        return result
    }

    fileprivate init(_ parts: tm) {
        day = RuleSchedule.Day(
            year: Int(parts.tm_year) + 1900, month: Int(parts.tm_mon) + 1, day: Int(parts.tm_mday))
        weekday = Int(parts.tm_wday) + 1
        minute = Int(parts.tm_hour) * 60 + Int(parts.tm_min)
    }
}

/// The time zone of a rule's days and hours.
public enum RuleZone: Hashable, Sendable, Codable {
    /// This machine's zone, as the C library knows it: `TZ` in any form of tzset(3), otherwise /etc/localtime.
    ///
    /// Foundation falls back to UTC for most forms of `TZ`.
    case machine
    /// A zone by its name.
    case named(TimeZone)

    /// Returns the local time at a point in time.
    public func time(at time: Timestamp) -> LocalTime {
        var seconds = time_t(time.seconds.rounded(.down))
        var parts = tm()
        switch self {
        case .machine: localtime_r(&seconds, &parts)
        case .named(let zone):
            seconds += zone.secondsFromGMT(for: Date(timeIntervalSince1970: time.seconds))
            gmtime_r(&seconds, &parts)
        }
        return LocalTime(parts)
    }

    /// Reads the machine's zone again, since it may have changed.
    static func refreshMachine() { tzset() }
}
