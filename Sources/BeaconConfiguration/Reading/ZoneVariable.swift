import CLibrary

/// The variable `TZ`, as the C library reads it (tzset(3)): a file of the zone data, or a POSIX rule.
///
/// For any other text, the C library silently uses UTC or a part of a rule.
package struct ZoneVariable {
    /// Returns true for the path of a file with a time zone.
    private let isZone: (String) -> Bool
    /// The folder of the zone data.
    private let folder: String

    /// Creates a reader of the variable on this machine.
    package init(folder: String = "/usr/share/zoneinfo", isZone: @escaping (String) -> Bool = Self.isZone) {
        self.folder = folder
        self.isZone = isZone
    }

    /// Returns the fault of a text with its remedy; nil if the C library knows the zone.
    package func fault(_ text: String) -> String? {
        // An empty text means UTC.
        let name = text.hasPrefix(":") ? text.dropFirst() : text[...]
        guard !name.isEmpty, !isZone(name.hasPrefix("/") ? String(name) : "\(folder)/\(name)"), !Self.isRule(name)
        else {
            return nil
        }
        let remedy =
            isZone("\(folder)/Europe/Berlin")
            ? "write the name of a zone, as TZ=Europe/Berlin (\"timedatectl list-timezones\" lists them)"
            : "\(folder) has no time zones: install tzdata"
        return "the time zone \"\(text)\" is not known, and the C library may use UTC instead; \(remedy)"
    }

    /// True if this machine has a time zone without the variable.
    package var hasDefault: Bool { isZone("/etc/localtime") }

    /// Returns true for a POSIX rule: `JST-9`, or `CET-1CEST,M3.5.0,M10.5.0/3`.
    package static func isRule(_ text: Substring) -> Bool {
        // UTC and GMT need no offset: without one, the C library uses UTC.
        if text == "UTC" || text == "GMT" { return true }
        let rule = /(?:[A-Za-z]{3,}|<[A-Za-z0-9+-]{3,}>)([+-]?[0-9:]+)(.*)/
        guard let whole = text.wholeMatch(of: rule), isTime(whole.1, hours: 0...24) else { return false }
        if whole.2.isEmpty { return true }
        let summer = /(?:[A-Za-z]{3,}|<[A-Za-z0-9+-]{3,}>)([+-]?[0-9:]+)?(?:,([^,]+),([^,]+))?/
        guard let parts = whole.2.wholeMatch(of: summer), parts.1.map({ isTime($0, hours: 0...24) }) ?? true else {
            return false
        }
        return [parts.2, parts.3].allSatisfy { $0.map(isChange) ?? true }
    }

    /// Returns true for the day of a change, and the time after a slash: `M3.5.0/2`, `J60` or `59`.
    private static func isChange(_ text: Substring) -> Bool {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let day = parts.first, parts.count < 2 || isTime(parts[1], hours: 0...167) else { return false }
        if day.hasPrefix("M") {
            let numbers = day.dropFirst().split(separator: ".", omittingEmptySubsequences: false).map { Int($0) }
            guard numbers.count == 3, let month = numbers[0], let week = numbers[1], let weekday = numbers[2] else {
                return false
            }
            return (1...12).contains(month) && (1...5).contains(week) && (0...6).contains(weekday)
        }
        let isJulian = day.hasPrefix("J")
        guard let number = Int(isJulian ? day.dropFirst() : day) else { return false }
        return (isJulian ? 1...365 : 0...365).contains(number)
    }

    /// Returns true for hours, with minutes and seconds after colons.
    private static func isTime(_ text: Substring, hours: ClosedRange<Int>) -> Bool {
        let digits = text.hasPrefix("-") || text.hasPrefix("+") ? text.dropFirst() : text
        let numbers = digits.split(separator: ":", omittingEmptySubsequences: false).map { Int($0) }
        guard (1...3).contains(numbers.count), let hour = numbers[0], hours.contains(hour) else { return false }
        return numbers.dropFirst().allSatisfy { $0.map((0...59).contains) ?? false }
    }

    /// Returns true for a file that starts like a time zone file (tzfile(5)).
    package static func isZone(_ path: String) -> Bool {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var start = [UInt8](repeating: 0, count: 4)
        return read(descriptor, &start, 4) == 4 && start == Array("TZif".utf8)
    }
}
