import Foundation

/// The header by which a server asks to be left alone for a while (RFC 9110, 10.2.3): seconds, or a date.
enum RetryAfter {
    /// How long that is.
    ///
    /// - Parameters:
    ///   - value: the header's.
    ///   - date: the answer's `Date` header, by which a date is understood, since a small computer's own clock may be
    ///     wrong by years.
    ///   - now: the time to go by where there is no such header.
    /// - Returns: nil where the value is neither.
    static func duration(_ value: String, date: String?, now: Date) -> Duration? {
        let text = value.trimmingCharacters(in: .whitespaces)
        if !text.isEmpty, text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) {
            // More digits than fit are as good as for ever, which the back-off bounds.
            return .seconds(min(Int64(text) ?? .max, 1 << 40))
        }
        guard let moment = parse(text) else { return nil }
        let reference = date.flatMap(parse) ?? now
        return .seconds(max(moment.timeIntervalSince(reference), 0))
    }

    /// The three forms of a date that a recipient has to take (RFC 9110, 5.6.7).
    private static func parse(_ text: String) -> Date? {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(secondsFromGMT: 0)
        for format in ["EEE, dd MMM yyyy HH:mm:ss zzz", "EEEE, dd-MMM-yy HH:mm:ss zzz", "EEE MMM d HH:mm:ss yyyy"] {
            formatter.dateFormat = format
            if let date = formatter.date(from: text) { return date }
        }
        return nil
    }
}
