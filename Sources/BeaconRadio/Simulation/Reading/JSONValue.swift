#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Any JSON, so that what reads a scenario can say itself what is wrong and where.
enum JSONValue: Sendable {
    case null
    case bool(Bool)
    case number(Double)
    case text(String)
    case list([JSONValue])
    case object([String: JSONValue])

    /// Lists and objects inside each other beyond this are refused before they can exhaust the stack. The format needs
    /// five.
    private static let deepest = 32

    /// The longest file that is read, in bytes.
    private static let largest = 16 << 20

    /// Reads JSON text.
    ///
    /// - Throws: ``ScenarioError``.
    init(json: [UInt8]) throws {
        guard json.count <= Self.largest else {
            throw ScenarioError(
                .tooLarge, at: "", "is longer than \(Self.largest >> 20) MiB; leave out what the story does not need")
        }
        guard Self.depth(of: json) <= Self.deepest else {
            throw ScenarioError(
                .malformed, at: "", "nests lists and objects deeper than \(Self.deepest); check its brackets")
        }
        do {
            self = try JSONDecoder().decode(JSONValue.self, from: Data(json))
        } catch let error as DecodingError {
            var reason = ""
            if case .dataCorrupted(let context) = error {
                reason = context.underlyingError.map { " (\(Self.text(of: $0)))" } ?? " (\(context.debugDescription))"
            }
            throw ScenarioError(.malformed, at: "", "is not JSON\(reason); correct its syntax", cause: error)
        } catch {
            throw ScenarioError(.malformed, at: "", "is not JSON; correct its syntax", cause: error)
        }
    }

    private static func text(of error: any Error) -> String {
        (error as? CocoaError)?.userInfo["NSDebugDescription"] as? String ?? "\(error)"
    }

    private static func depth(of json: [UInt8]) -> Int {
        var depth = 0
        var deepest = 0
        var isInText = false
        var isEscaped = false
        for byte in json {
            if isInText {
                if isEscaped {
                    isEscaped = false
                } else if byte == UInt8(ascii: "\\") {
                    isEscaped = true
                } else if byte == UInt8(ascii: "\"") {
                    isInText = false
                }
                continue
            }
            switch byte {
            case UInt8(ascii: "\""): isInText = true
            case UInt8(ascii: "["), UInt8(ascii: "{"):
                depth += 1
                deepest = max(deepest, depth)
            case UInt8(ascii: "]"), UInt8(ascii: "}"): depth -= 1
            default: break
            }
        }
        return deepest
    }

    /// What the value is, for people.
    var kind: String {
        switch self {
        case .null: "null"
        case .bool: "true or false"
        case .number: "a number"
        case .text: "a text"
        case .list: "a list"
        case .object: "an object"
        }
    }
}

extension JSONValue: Decodable {
    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(String.self) {
            self = .text(value)
        } else if let keyed = try? decoder.container(keyedBy: JSONKey.self) {
            var members: [String: JSONValue] = [:]
            for key in keyed.allKeys { members[key.stringValue] = try keyed.decode(JSONValue.self, forKey: key) }
            self = .object(members)
        } else if var unkeyed = try? decoder.unkeyedContainer() {
            var elements: [JSONValue] = []
            while !unkeyed.isAtEnd { elements.append(try unkeyed.decode(JSONValue.self)) }
            self = .list(elements)
        } else {
            // Last, so that its error is the one that is told: a number that no Double can hold.
            self = .number(try container.decode(Double.self))
        }
    }
}
