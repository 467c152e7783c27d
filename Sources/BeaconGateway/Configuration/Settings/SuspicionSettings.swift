import BeaconConfiguration
public import BeaconEngine
import BeaconModel
import Yams

/// How beacons are looked for that may have been cloned.
public struct SuspicionSettings: Hashable, Sendable {
    /// The rules.
    public var rules = SuspicionRules()

    /// The names of the regions whose beacons are looked at; nil for all regions, and the beacons with names.
    public var regions: Set<String>?

    /// The positions of receivers, by their names, which come before those of the console's plan.
    public var positions: [String: ReceiverPosition] = [:]

    /// The default settings.
    public init() {}
}

extension SuspicionSettings {
    /// The most receivers that have positions in the file, and the farthest from the corner, in metres.
    private static let mostPositions = 20_000
    private static let farthest = 10_000_000.0

    /// Reads `suspicious: true`, or a mapping; nil where nothing is looked for.
    ///
    /// - Parameter regions: the names of the regions that there are.
    static func read(_ root: ConfigurationSection, regions: Set<String>) -> SuspicionSettings? {
        guard let node = root.node("suspicious") else { return nil }
        var settings = SuspicionSettings()
        guard case .mapping = node else { return root.boolean("suspicious") == true ? settings : nil }
        let section = root.section("suspicious")
        if let reasons = section.choices("reasons", SuspicionReason.all.map { ($0.rawValue, $0) }) {
            settings.rules.reasons = Set(reasons)
        }
        settings.regions = section.regionNames("regions", defined: regions)
        if let speed = section.integer("speed", 1...1_000, unit: " metres per second") {
            settings.rules.fastest = Double(speed.value)
        }
        if let margin = section.integer("margin", 0...60, unit: " dB") { settings.rules.margin = Double(margin.value) }
        if let pause = section.duration("again-after", .seconds(1)...(.seconds(366 * 86_400))) {
            settings.rules.pause = pause
        }
        settings.positions = readPositions(section)
        section.finish()
        return settings
    }

    private static func readPositions(_ section: ConfigurationSection) -> [String: ReceiverPosition] {
        let what = "write names of receivers with [x, y] in metres, as in {hall-pi: [0, 0], depot-pi: [60, 12.5]}"
        guard let node = section.node("receivers") else { return [:] }
        guard case .mapping(let mapping) = node, mapping.count <= mostPositions else {
            section.report(.file(node.location), "\"receivers\" is \(node.summary); \(what)")
            return [:]
        }
        var positions: [String: ReceiverPosition] = [:]
        for (name, value) in mapping {
            let numbers = value.sequence?.compactMap { $0.scalar.flatMap { Double($0.string) } } ?? []
            guard let name = name.scalar?.string, !name.isEmpty, value.sequence?.count == 2, numbers.count == 2,
                numbers.allSatisfy({ abs($0) <= farthest })
            else {
                section.report(.file(value.location), "\"receivers\" has \(value.summary); \(what)")
                continue
            }
            positions[name] = ReceiverPosition(x: numbers[0], y: numbers[1])
        }
        return positions
    }
}
