import BeaconSupport
import Foundation

/// The answer to an application's requests for a permission.
package enum RequestAnswer: String, Hashable, Sendable, Codable, CaseIterable {
    /// Requests are granted.
    case grant
    /// Requests are refused.
    case deny
    /// The user is asked.
    case ask
}

/// An administrator's rule for an application, or for all applications without their own rule.
///
/// In JSON, it is a status, an answer, or an object with any of status, answer and strictness: `"always"`, `"ask"`,
/// `{ "requests": "ask", "strict": true }`.
struct AuthorizationRule: Hashable, Sendable, Decodable {
    /// The status, whatever the application requests; nil if its requests decide.
    var status: AuthorizationStatus?

    /// The answer to its requests; nil if not set.
    var requests: RequestAnswer?

    /// True if its Info.plist must be complete as on iOS; nil if not set.
    var isStrict: Bool?

    /// Creates an empty rule.
    init() {}

    private enum Key: String, CodingKey, CaseIterable {
        case status, requests, strict
    }

    private struct AnyKey: CodingKey {
        var stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    init(from decoder: any Decoder) throws {
        if let word = try? decoder.singleValueContainer().decode(String.self) {
            status = AuthorizationStatus(rawValue: word)
            requests = RequestAnswer(rawValue: word)
            guard status != nil || requests != nil else { throw Self.error(word, Self.words, decoder.codingPath) }
            return
        }
        let names = try decoder.container(keyedBy: AnyKey.self).allKeys.map(\.stringValue)
        if let other = names.sorted().first(where: { Key(rawValue: $0) == nil }) {
            throw Self.error(other, Key.allCases.map(\.rawValue), decoder.codingPath)
        }
        let container = try decoder.container(keyedBy: Key.self)
        func value<Value: RawRepresentable<String> & CaseIterable>(_ key: Key) throws -> Value? {
            guard let word = try container.decodeIfPresent(String.self, forKey: key) else { return nil }
            guard let value = Value(rawValue: word) else {
                throw Self.error(word, Value.allCases.map(\.rawValue), container.codingPath + [key])
            }
            return value
        }
        status = try value(.status)
        requests = try value(.requests)
        isStrict = try container.decodeIfPresent(Bool.self, forKey: .strict)
    }

    /// Returns this rule, with unset values replaced by the other rule's.
    func orElse(_ other: AuthorizationRule) -> AuthorizationRule {
        var rule = self
        rule.status = status ?? other.status
        rule.requests = requests ?? other.requests
        rule.isStrict = isStrict ?? other.isStrict
        return rule
    }

    /// Returns the combination of two rules for one application, with the stricter value of each setting.
    func strictest(_ other: AuthorizationRule) -> AuthorizationRule {
        let statuses: [AuthorizationStatus] = [.restricted, .denied, .notDetermined, .whenInUse, .always]
        let answers: [RequestAnswer] = [.deny, .ask, .grant]
        var rule = AuthorizationRule()
        rule.status = statuses.first { $0 == status || $0 == other.status }
        rule.requests = answers.first { $0 == requests || $0 == other.requests }
        rule.isStrict = isStrict == true || other.isStrict == true ? true : isStrict ?? other.isStrict
        return rule
    }

    private static var words: [String] {
        AuthorizationStatus.allCases.map(\.rawValue) + RequestAnswer.allCases.map(\.rawValue)
    }

    private static func error(_ word: String, _ words: [String], _ path: [any CodingKey]) -> DecodingError {
        let place = path.map(\.stringValue).joined(separator: ", ")
        return .dataCorrupted(
            .init(
                codingPath: path,
                debugDescription: "\(place) has \"\(word.printable)\"; expected one of "
                    + words.joined(separator: ", ")))
    }
}
