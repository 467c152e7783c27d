import BeaconConfiguration
import BeaconModel
import Foundation

/// The keys of a mapping in another program's file. It remembers which keys were read, so that the others can be named.
struct ImportedKeys {
    private let path: String
    private var rest: [String: JSONValue]
    /// The keys inside that were not read.
    private var unknownInside: [String] = []

    init(_ value: JSONValue?, path: String = "") {
        self.path = path.isEmpty ? "" : path + "."
        if case .object(let values)? = value { rest = values } else { rest = [:] }
    }

    /// The keys that were not read, with their paths. A key without a value says nothing.
    var unknown: [String] {
        unknownInside + rest.filter { !$0.value.saysNothing }.keys.sorted().map { path + $0 }
    }

    /// Reads a value.
    mutating func take(_ key: String) -> JSONValue? {
        guard let value = rest.removeValue(forKey: key), value != .null else { return nil }
        return value
    }

    /// Reads a text; nil for an empty one.
    mutating func text(_ key: String) -> String? {
        take(key)?.scalarText.flatMap { $0.isEmpty ? nil : $0 }
    }

    mutating func number(_ key: String) -> Double? { take(key)?.importedNumber }

    mutating func flag(_ key: String) -> Bool? {
        text(key).map { ["true", "yes", "on", "1"].contains($0.lowercased()) }
    }

    /// Reads a list; a single value is a list of one.
    mutating func list(_ key: String) -> [JSONValue] {
        switch take(key) {
        case .array(let values)?: values
        case .string(let text)? where text.isEmpty: []
        case let value?: [value]
        case nil: []
        }
    }

    /// Returns the paths of those keys that are there, and counts them as read.
    mutating func present(_ keys: [String]) -> [String] {
        keys.filter { take($0).map { !$0.saysNothing } ?? false }.map { path + $0 }
    }

    /// Reads a mapping, and remembers which of its keys were not read.
    mutating func section<Result>(_ key: String, _ read: (inout ImportedKeys) -> Result) -> Result {
        var inner = ImportedKeys(take(key), path: path + key)
        let result = read(&inner)
        unknownInside += inner.unknown
        return result
    }

    /// Reads a list of mappings, and remembers which of their keys were not read.
    mutating func items(_ key: String, _ read: (inout ImportedKeys) -> Void) {
        for value in list(key) {
            var inner = ImportedKeys(value, path: path + key)
            read(&inner)
            unknownInside += inner.unknown.filter { !unknownInside.contains($0) }
        }
    }
}

extension JSONValue {
    /// True for an empty value, which needs no word.
    var saysNothing: Bool { [.null, .string(""), .array([]), .object([:])].contains(self) }

    /// The number, which YAML has as a text if it has a point. Other programs also write hexadecimal ones.
    var importedNumber: Double? {
        guard let text = scalarText else { return nil }
        if text.lowercased().hasPrefix("0x") { return Int(text.dropFirst(2), radix: 16).map(Double.init) }
        return Double(text).flatMap { $0.isFinite ? $0 : nil }
    }

    /// The numbers of a point; nil if one of them is missing.
    var importedPoint: [Double]? {
        guard case .array(let values) = self else { return nil }
        let numbers = values.compactMap(\.importedNumber)
        return numbers.count == values.count && numbers.count >= 2 ? numbers : nil
    }
}
