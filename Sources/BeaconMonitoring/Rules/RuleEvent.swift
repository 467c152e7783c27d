package import BeaconEngine
package import BeaconModel
import BeaconSupport

/// An event for which a rule runs a program, in the grammar of the command line and beacond:
/// `enter | exit | place | gone | suspicious | immediate | near | far [for TIME]`.
package enum RuleEvent: Hashable, Sendable, CustomStringConvertible {
    /// A region was entered.
    case enter
    /// A region was left.
    case exit
    /// A beacon entered a place, or left all places.
    case place
    /// A beacon is no longer ranged: it was not heard for ten seconds or more.
    case gone
    /// The adverts of an identity cannot come from a single device.
    case suspicious
    /// A beacon came at least this near and stayed for a time; zero means at once.
    case proximity(Proximity, for: Duration)

    /// An error in the text of an event.
    package struct Failure: Error, Hashable, Sendable, CustomStringConvertible {
        /// The problem and its remedy.
        package var description: String
    }

    /// The words of the grammar, for error messages.
    package static let words = ["enter", "exit", "place", "gone", "suspicious", "immediate", "near", "far"]

    /// The longest time of stay that can be set.
    private static let longest = Duration.seconds(7 * 86_400)

    /// Reads an event.
    ///
    /// - Throws: ``Failure``.
    package init(_ text: String) throws(Failure) {
        let words = text.split(separator: " ").map(String.init)
        let proximities: [String: Proximity] = ["immediate": .immediate, "near": .near, "far": .far]
        switch (words.first ?? "", words.count) {
        case ("enter", 1): self = .enter
        case ("exit", 1): self = .exit
        case ("place", 1): self = .place
        case ("gone", 1): self = .gone
        case ("suspicious", 1): self = .suspicious
        case (let word, 1) where proximities[word] != nil: self = .proximity(proximities[word] ?? .near, for: .zero)
        case (let word, 3) where proximities[word] != nil && words[1] == "for":
            guard let time = DurationText.duration(words[2]), time <= Self.longest else {
                throw Failure(
                    description: "\"\(text)\" has no time from 0s to 7d; write for example \"\(word) for 30s\"")
            }
            self = .proximity(proximities[word] ?? .near, for: time)
        default:
            throw Failure(
                description:
                    "\"\(text)\" is not an event; write \(Self.words.dropLast().joined(separator: ", ")) or far, or "
                    + "a proximity with a time, such as \"near for 30s\"")
        }
    }

    /// Creates the event of a proximity condition; nil for a condition of notifications.
    package init?(_ condition: ProximityCondition) {
        switch condition {
        case .near(let proximity, for: let time): self = .proximity(proximity, for: time)
        case .gone: self = .gone
        case .change: return nil
        }
    }

    /// The proximity condition of the event; nil for other events.
    package var condition: ProximityCondition? {
        switch self {
        case .enter, .exit, .place, .suspicious: nil
        case .gone: .gone
        case .proximity(let proximity, for: let time): .near(proximity, for: time)
        }
    }

    /// True for events that depend on proximity, which require ranging.
    package var needsRanging: Bool { condition != nil }

    /// True for an event of a beacon, false for an event of a region.
    package var isOfBeacon: Bool { self != .enter && self != .exit }

    /// The event in the grammar of rules.
    package var description: String {
        switch self {
        case .enter: "enter"
        case .exit: "exit"
        case .place: "place"
        case .gone: "gone"
        case .suspicious: "suspicious"
        case .proximity(let proximity, .zero): "\(proximity)"
        case .proximity(let proximity, let time): "\(proximity) for \(DurationText.text(time))"
        }
    }
}

extension ProximityMachine {
    /// Creates the state machine of a rule, which ignores events of regions and places.
    package init(_ events: some Sequence<RuleEvent>) {
        // In a fixed order, so that the same changes give the same results.
        self.init(Set(events).sorted { $0.description < $1.description }.compactMap(\.condition))
    }
}
