import BeaconConfiguration
public import BeaconEngine
import BeaconModel

/// The settings of the search for cloned beacons.
public struct SuspicionSettings: Hashable, Sendable {
    /// The rules.
    public var rules = SuspicionRules()

    /// The names of the regions whose beacons are checked; nil for all regions and named beacons.
    public var regions: Set<String>?

    /// The positions of receivers, by name. They override those of the console's plan.
    public var positions: [String: ReceiverPosition] = [:]

    /// Creates the default settings.
    public init() {}
}

extension SuspicionSettings {
    /// The keys of the search for cloned beacons.
    static let grammar = Grammar<Self>(
        SuspicionSettings(),
        [
            Setting(
                "reasons", \.rules.reasons, .words(SuspicionReason.all.map { ($0.rawValue, $0) }),
                "The reasons that make a beacon suspicious."),
            Setting(
                "regions", \.regions, .names(of: "region"), default: "all, and the named beacons",
                "The regions whose beacons are checked."),
            Setting(
                "speed", \.rules.fastest, .integer(1...1_000, unit: " meters per second"),
                "The speed that nothing exceeds."),
            Setting(
                "margin", \.rules.margin, .integer(0...60, unit: " dB"),
                "How much stronger than in free space a beacon may be."),
            Setting(
                "again-after", \.rules.pause, .duration(.seconds(1)...(.seconds(366 * 86_400))),
                "The time after which the same suspicion of a beacon causes another event."),
            Setting("receivers", \.positions, .positions, "The positions of receivers, such as `{ hall-pi: [0, 0] }`."),
        ])
}

extension SettingKind<[String: ReceiverPosition]> {
    /// The most receivers with positions in the file, and the farthest position from the corner, in meters.
    private static let maximumPositions = 20_000
    private static let farthest = 10_000_000.0

    /// The positions of receivers by name.
    fileprivate static let positions = SettingKind(.pairs(.point, most: maximumPositions, longest: 200)) {
        section, key in
        let what = "write names of receivers with [x, y] in meters, as in {hall-pi: [0, 0], depot-pi: [60, 12.5]}"
        guard let value = section.value(key) else { return nil }
        guard case .object(let values) = value, values.count <= maximumPositions else {
            section.report(section.place(of: key), "\"\(key)\" is \(value.summary); \(what)")
            return nil
        }
        var positions: [String: ReceiverPosition] = [:]
        for (name, value) in values {
            guard !name.isEmpty, case .array(let items) = value, items.count == 2,
                case let numbers = items.compactMap({ $0.scalarText.flatMap { Double($0) } }), numbers.count == 2,
                numbers.allSatisfy({ abs($0) <= farthest })
            else {
                section.report(section.place(of: key, .key(name)), "\"\(key)\" has \(value.summary); \(what)")
                continue
            }
            positions[name] = ReceiverPosition(x: numbers[0], y: numbers[1])
        }
        return positions
    }
}
