import BeaconSupport
import Foundation

/// The result of a request.
enum HTTPResponse: Sendable {
    /// The server answered.
    ///
    /// - Parameters:
    ///   - status: the status code.
    ///   - retryAfter: the wait that the server requested.
    ///   - excerpt: the beginning of the body, for display.
    case response(status: Int, retryAfter: Duration?, excerpt: String)

    /// There was no complete response.
    case failure(String)

    /// The task was canceled.
    case cancelled

    /// The outcome for the notifications that were sent; nil if the task was canceled.
    ///
    /// 400, 413 and 422 concern the content of the request (RFC 9110, 15.5) and are final. All others concern the
    /// destination, its address or its keys, which an operator may correct, and are retried. So are redirects, which
    /// are not followed: besides a moved server, the cause may be a network that requires a login.
    var outcome: DeliveryOutcome? {
        switch self {
        case .cancelled: nil
        case .failure(let reason): .retry(reason: reason)
        case .response(200..<300, _, _): .delivered
        case .response(let status, let retryAfter, let excerpt):
            switch status {
            case 400, 413, 422: .refused(reason: Self.text(status, excerpt))
            case 300..<400:
                .retry(reason: "answered \(status), a redirect, which is not followed", after: retryAfter)
            default: .retry(reason: Self.text(status, excerpt), after: retryAfter)
            }
        }
    }

    private static func text(_ status: Int, _ excerpt: String) -> String {
        let causes =
            switch status {
            case 401, 403: ["the destination's keys are wrong", "this machine's clock is wrong"]
            case 404, 410: ["the destination's address is wrong"]
            default: [String]()
            }
        let answer = excerpt.isEmpty ? "answered \(status)" : "answered \(status): \(excerpt)"
        return causes.isEmpty ? answer : "\(answer.sentence) \(causes.asPossibleCauses)"
    }
}

/// The header with which a server requests a pause (RFC 9110, 10.2.3): seconds, or a date.
enum RetryAfter {
    /// Returns the length of the pause.
    ///
    /// - Parameters:
    ///   - value: the header's value.
    ///   - date: the response's `Date` header, to which a date in the value is relative. A small computer's clock may
    ///     be wrong by years.
    ///   - now: the time to use without that header.
    /// - Returns: The length, or nil if the value is neither seconds nor a date.
    static func duration(_ value: String, date: String?, now: Date) -> Duration? {
        let text = value.trimmingCharacters(in: .whitespaces)
        if !text.isEmpty, text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) {
            // A number that is too large means the longest wait, which the retry policy limits.
            return .seconds(min(Int64(text) ?? .max, 1 << 40))
        }
        guard let end = parse(text) else { return nil }
        let reference = date.flatMap(parse) ?? now
        return .seconds(max(end.timeIntervalSince(reference), 0))
    }

    /// Parses the three date formats that a recipient must accept (RFC 9110, 5.6.7).
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

/// Delivery in batches to a server that accepts or refuses a batch as a whole.
///
/// If the server refuses the content of a batch, a single notification may be the cause. To keep the others from
/// becoming dead letters, the batch is sent again in halves, down to that notification.
enum BatchSplitter {
    static func deliver(
        _ entries: ArraySlice<QueuedNotification>, post: (ArraySlice<QueuedNotification>) async -> DeliveryOutcome?
    ) async -> [DeliveryOutcome] {
        guard let outcome = await post(entries) else { return [] }
        switch outcome {
        case .delivered: return entries.map { _ in .delivered }
        // The failure belongs to the first notification; the others are sent again with it.
        case .retry: return [outcome]
        case .refused:
            guard entries.count > 1 else { return entries.map { _ in outcome } }
            let middle = entries.startIndex + entries.count / 2
            let first = await deliver(entries[..<middle], post: post)
            guard first.count == middle - entries.startIndex, !first.contains(where: \.isRetry) else { return first }
            return first + (await deliver(entries[middle...], post: post))
        }
    }
}

extension DeliveryOutcome {
    fileprivate var isRetry: Bool {
        if case .retry = self { true } else { false }
    }
}
