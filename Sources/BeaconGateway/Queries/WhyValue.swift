import BeaconModel
import BeaconMonitoring
import BeaconSupport

/// Why something is as it is, in sentences, and what would change it.
package struct WhyValue: Codable, Sendable {
    struct Fact: Codable, Sendable {
        var label: String
        var value: String
    }

    var title: String
    var sentences: [String] = []
    var facts: [Fact] = []

    init(_ title: String) { self.title = title }

    mutating func say(_ sentence: String) { sentences.append(sentence) }
    mutating func add(_ label: String, _ value: String) { facts.append(Fact(label: label, value: value)) }
}

extension GatewaySnapshot {
    /// Returns why a region has its state.
    ///
    /// - Parameters:
    ///   - rules: the rules by which the core decides over it.
    ///   - state: the state that is published.
    ///   - known: the state that was known last.
    ///   - holder: the receiver that heard it last.
    ///   - origin: the first time of any source.
    package func why(
        _ region: RegionSettings, _ rules: RegionExplanation, state: RegionState, known: RegionState,
        heldBy holder: String?, since origin: Timestamp?
    ) -> WhyValue {
        var why = WhyValue("\(region.name): \(state)")
        let patience =
            "\(DurationText.text(rules.exitTimeout))\(rules.isExitAdaptive ? ", or three of its usual gaps" : "")"
        switch (state, known) {
        case (.unknown, .inside), (.unknown, .outside):
            why.say(
                "No receiver that could hear it hears at the moment, so nothing is known. Before, it was \(known); once a receiver hears again, that is compared with what is heard."
            )
        case (.unknown, _):
            why.say("Nothing has been heard of it so far, and not for long enough to say that it is empty.")
        case (.inside, _):
            let by = holder.map { " at \($0)" } ?? ""
            // What is inside from an earlier run has its time-out from the beginning of this one.
            let span = Int64(rules.exitTimeout / .nanoseconds(1))
            let isAssumed = rules.deadline.map { $0.nanoseconds - span <= (origin?.nanoseconds ?? 0) } ?? false
            why.say(
                isAssumed
                    ? "It was inside when beacond ended, and nothing was heard of it since beacond began."
                    : "A beacon of it was heard\(by), strong enough, and not too long ago.")
            if let deadline = rules.deadline, let now = time {
                let left = max(0, deadline.since(now))
                why.add("Left unless heard within", Self.seconds(left))
                if !rules.isExitAdaptive, !isAssumed {
                    let passed = max(0, span - left)
                    why.add("Last heard", "\(Self.seconds(passed)) ago")
                }
            } else {
                why.say(
                    "It has been silent for its time, but in a silence that does not count: its receiver does not hear."
                )
            }
        case (.outside, _): why.say("Nothing of it was heard for its time, or nothing strong enough.")
        }
        why.add("Left after", "\(patience) unheard")
        if rules.isSignalLearned {
            why.add("Signal", "learnt: entered within 10 dB of the strongest, kept within 20 dB")
        } else if let minimum = rules.minimumRSSI {
            why.add("Entered from", "\(minimum) dBm")
            why.add("Kept from", "\(rules.exitRSSI ?? minimum) dBm")
        } else {
            why.add("Signal", "any")
        }
        addHeard(region.region.constraint, to: &why)
        addDeaf(to: &why)
        switch state {
        case .inside:
            why.add("What would change it", "\(patience) without an advert, while a receiver hears")
        case .outside:
            why.add("What would change it", "one advert of a beacon of it, strong enough")
        case .unknown:
            why.add(
                "What would change it",
                "an advert of it, or \(DurationText.text(rules.exitTimeout)) of silence while a receiver hears")
        }
        return why
    }

    /// Returns why a beacon is where it is said to be; nil where nothing is known of it.
    package func why(beacon: BeaconIdentity) -> WhyValue? {
        let title = names[beacon] ?? "\(beacon.major)/\(beacon.minor)"
        let heard = view.reports(at: time).flatMap { report in
            report.beacons.filter { $0.identity == beacon }.map { (report.receiver, $0) }
        }
        let place = view.whereabouts[beacon]
        guard place != nil || !heard.isEmpty else { return nil }
        var why = WhyValue(title)
        if let place {
            switch place.state {
            case .inside:
                why.title = "\(title) is in \(place.place ?? "a place")"
                why.say("It is heard strongest there\(place.receiver.map { ", at \($0)" } ?? "").")
            case .outside:
                why.title = "\(title) is in no place"
                why.say("No receiver has heard it for long enough.")
            case .unknown:
                why.title = "\(title) is somewhere unknown"
                why.say("The receivers that hear cannot tell where it is: one that could is deaf.")
            }
            if let level = place.level {
                why.add("Level there", Self.decibels(level, "dBm"))
            }
            if let runnerUp = place.runnerUp {
                let margin = place.margin.map { ", behind by \(Self.decibels($0, "dB"))" } ?? ""
                why.add("Next", runnerUp + margin)
            }
            if let rules = configuration.places?.rules {
                why.add(
                    "What would change it",
                    "another place that leads by \(Self.decibels(rules.margin, "dB")) for \(DurationText.text(rules.holdTime)) (by more, or several receivers: sooner), or \(DurationText.text(rules.exitTimeout)) unheard"
                )
            }
        }
        for (receiver, ranged) in heard {
            let distance = ranged.accuracy < 0 ? "" : ", \((ranged.accuracy * 10).rounded() / 10) m"
            let heard =
                ranged.rssi == 0 ? "not heard at the moment" : "\(ranged.proximity)\(distance), \(ranged.rssi) dBm"
            why.add("At \(receiver)", heard)
        }
        addDeaf(to: &why)
        return why
    }

    private func addHeard(_ constraint: BeaconConstraint, to why: inout WhyValue) {
        for report in view.reports(at: time) {
            for beacon in report.beacons.prefix(5) where constraint.matches(beacon.identity) {
                let title = names[beacon.identity] ?? "\(beacon.identity.major)/\(beacon.identity.minor)"
                let fact = WhyValue.Fact(
                    label: "Heard", value: "\(title) at \(report.receiver): \(beacon.rssi) dBm, \(beacon.proximity)")
                if !why.facts.contains(where: { $0.value == fact.value }), why.facts.count < 20 {
                    why.facts.append(fact)
                }
            }
        }
    }

    private func addDeaf(to why: inout WhyValue) {
        for receiver in receivers where receiver.hearing == "deaf" {
            why.add("Does not hear", receiver.name + (receiver.reason.map { ": \($0)" } ?? ""))
        }
    }

    private static func seconds(_ nanoseconds: Int64) -> String { "\((Double(nanoseconds) / 1e8).rounded() / 10) s" }

    private static func decibels(_ value: Double, _ unit: String) -> String { "\((value * 10).rounded() / 10) \(unit)" }
}
