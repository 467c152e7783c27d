import BeaconConfiguration
import BeaconEngine
import BeaconModel
import BeaconMonitoring
import Foundation

/// Settings to change in a playback, each as `KEY=VALUE`, with the keys and values of the file.
///
/// `place-rules.margin=8` changes the rules of places, `regions.exit-timeout=2m` those of all regions, and
/// `regions.Hall.exit-timeout=2m` those of one. `rules.at-most=1h` changes the rules for events in the same way.
package struct ReplayChanges: Sendable {
    /// A fault in a change.
    package struct Fault: Error, CustomStringConvertible {
        package var description: String
    }

    private enum Change: Sendable {
        case rules(key: String, value: JSONValue)
        case region(name: String?, key: String, value: JSONValue)
        case event(rule: String?, key: String, value: JSONValue)
    }

    private static let regionKeys = ["minimum-rssi", "exit-rssi", "exit-timeout", "adaptive-exit"]
    private static let eventKeys = ["enabled", "at-most", "when"]
    private static let ruleKeys = PlaceRules.grammar.descriptions.map(\.key)

    private var changes: [Change] = []

    /// True if nothing is changed.
    package var isEmpty: Bool { changes.isEmpty }

    /// Creates a set without changes.
    package init() {}

    /// Reads changes.
    ///
    /// - Throws: ``Fault``.
    package init(_ texts: [String]) throws {
        changes = try texts.map(Self.change)
    }

    private static func change(_ text: String) throws -> Change {
        guard let equals = text.firstIndex(of: "=") else {
            throw Fault(description: "\"\(text)\" has no value; write KEY=VALUE, such as place-rules.margin=8")
        }
        let path = text[..<equals]
        let document = YAMLDocument(String(text[text.index(after: equals)...]))
        guard let value = document.content, document.diagnostics.isEmpty else {
            throw Fault(description: "\"\(text)\" has no value; write KEY=VALUE, such as place-rules.margin=8")
        }
        let change: Change
        if path.hasPrefix("place-rules."), case let key = String(path.dropFirst("place-rules.".count)),
            ruleKeys.contains(key)
        {
            change = .rules(key: key, value: value)
        } else if path.hasPrefix("regions."),
            let key = regionKeys.first(where: { path.hasSuffix("." + $0) || path == "regions." + $0 })
        {
            change = .region(name: name(in: path, after: "regions.", before: key), key: key, value: value)
        } else if path.hasPrefix("rules."),
            let key = eventKeys.first(where: { path.hasSuffix("." + $0) })
        {
            change = .event(rule: name(in: path, after: "rules.", before: key), key: key, value: value)
        } else {
            let keys =
                ruleKeys.map { "place-rules.\($0)" } + regionKeys.map { "regions.\($0)" }
                + regionKeys.prefix(1).map { "regions.NAME.\($0)" } + eventKeys.map { "rules.\($0)" }
                + ["rules.NAME.enabled"]
            throw Fault(
                description: "a replay cannot change \"\(path)\"; it can change \(keys.joined(separator: ", "))")
        }
        if let fault = fault(of: change) { throw Fault(description: "\"\(text)\": \(fault)") }
        return change
    }

    /// Returns the name in the middle of a path; nil for none.
    private static func name(in path: Substring, after prefix: String, before key: String) -> String? {
        let name = path.dropFirst(prefix.count).dropLast(key.count)
        return name.isEmpty ? nil : String(name.dropLast())
    }

    /// Returns what is wrong with the value of a change.
    private static func fault(of change: Change) -> String? {
        var rules = PlaceRules()
        var region = RegionSettings(
            name: "", region: MonitoredRegion(BeaconConstraint(uuid: ProximityUUID(high: 0, low: 0))))
        switch change {
        case .rules(let key, let value): return PlaceRules.grammar.change(key, to: value, in: &rules)
        case .region(_, let key, let value): return RegionSettings.grammar.change(key, to: value, in: &region)
        case .event(_, let key, let value):
            var rule = Rule(name: "", target: nil)
            return Rule.grammar.change(key, to: value, in: &rule)
        }
    }

    /// The rules that are changed by their names.
    package var ruleNames: Set<String> {
        Set(changes.compactMap { if case .event(let name, _, _) = $0 { name } else { nil } })
    }

    /// Returns a rule with the changes.
    func applied(to rule: Rule) -> Rule {
        var changed = rule
        for case .event(let name, let key, let value) in changes where name ?? rule.name == rule.name {
            _ = Rule.grammar.change(key, to: value, in: &changed)
        }
        return changed
    }

    /// Returns a call with the changes.
    ///
    /// - Throws: the fault that the file would have.
    func applied(to input: CoreInput) throws(Fault) -> CoreInput {
        switch input {
        case .locate(var plan, let beacons):
            for case .rules(let key, let value) in changes {
                _ = PlaceRules.grammar.change(key, to: value, in: &plan.rules)
            }
            return .locate(plan, beacons)
        case .monitor(let id, let region, let state, let holder, let owner):
            var settings = RegionSettings(name: "", region: region)
            let fault = settings.change(
                changes.compactMap { change in
                    guard case .region(let name, let key, let value) = change else { return nil }
                    let owners = name.map { [ConditionOwner.region($0).label, ConditionOwner.beacon($0).label] }
                    return owners?.contains(owner) ?? true ? (key, value) : nil
                })
            if let fault { throw Fault(description: "\(owner): \(fault)") }
            return .monitor(id, settings.region, assuming: state, heldBy: holder, owner: owner)
        default: return input
        }
    }
}
