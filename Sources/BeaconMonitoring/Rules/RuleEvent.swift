package import BeaconEngine
package import BeaconModel
import BeaconSupport

/// An event for which a rule runs a program, in the one grammar that the command line and beacond have:
/// `enter | exit | place | gone | suspicious | immediate | near | far [for TIME]`.
package enum RuleEvent: Hashable, Sendable, CustomStringConvertible {
    /// A region was entered.
    case enter
    /// A region was left.
    case exit
    /// A beacon has come into a place, or has left all of them.
    case place
    /// A beacon is ranged no longer: nothing was heard of it for ten seconds and more.
    case gone
    /// An identity is heard as no single device can be.
    case suspicious
    /// A beacon came at least as near as this, and stayed so for a time: zero for at once.
    case proximity(Proximity, for: Duration)

    /// An error in the text of an event.
    package struct Failure: Error, Hashable, Sendable, CustomStringConvertible {
        /// What is wrong with the text, and what to write.
        package var description: String
    }

    /// The words of the grammar, for whoever misspelt one.
    package static let words = ["enter", "exit", "place", "gone", "suspicious", "immediate", "near", "far"]

    /// The longest time that somebody can be asked to stay.
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
                    description: "\"\(text)\" names no time from 0s to 7d; write for instance \"\(word) for 30s\"")
            }
            self = .proximity(proximities[word] ?? .near, for: time)
        default:
            throw Failure(
                description:
                    "\"\(text)\" is no event; write \(Self.words.dropLast().joined(separator: ", ")) or far, or "
                    + "how long one stays, as \"near for 30s\"")
        }
    }

    /// The event that a condition of proximity is; nil for one of notifications.
    package init?(_ condition: ProximityCondition) {
        switch condition {
        case .near(let proximity, for: let time): self = .proximity(proximity, for: time)
        case .gone: self = .gone
        case .change: return nil
        }
    }

    /// The condition of proximity that the event is; nil for other events.
    package var condition: ProximityCondition? {
        switch self {
        case .enter, .exit, .place, .suspicious: nil
        case .gone: .gone
        case .proximity(let proximity, for: let time): .near(proximity, for: time)
        }
    }

    /// True for an event by which a beacon is near, for which beacons have to be ranged.
    package var needsRanging: Bool { condition != nil }

    /// True for an event of a beacon, and not of a region.
    package var isOfBeacon: Bool { self != .enter && self != .exit }

    /// The text.
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
    /// Creates the machine of a rule, which passes over events of regions and places.
    package init(_ events: some Sequence<RuleEvent>) {
        // In a fixed order, so that the same changes give the same moments.
        self.init(Set(events).sorted { $0.description < $1.description }.compactMap(\.condition))
    }
}
