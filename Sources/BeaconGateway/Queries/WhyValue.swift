import BeaconModel
import BeaconMonitoring
import BeaconSupport

/// An explanation of a state, in sentences, and of what would change it.
package struct WhyValue: Codable, Sendable {
    struct Fact: Codable, Sendable {
        var label: String
        var value: String
    }

    var title: String
    var sentences: [String] = []
    var facts: [Fact] = []

    init(_ title: String) { self.title = title }

    mutating func add(_ sentence: String) { sentences.append(sentence) }
    mutating func add(_ label: String, _ value: String) { facts.append(Fact(label: label, value: value)) }
}

extension GatewaySnapshot {
    /// Returns an explanation of a region's state.
    ///
    /// - Parameters:
    ///   - rules: the core's rules for it.
    ///   - state: the published state.
    ///   - known: the last known state.
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
            why.add(
                "No receiver that could hear it works at the moment, so its state is unknown. Before, it was \(known); once a receiver hears again, beacond checks whether that still holds."
            )
        case (.unknown, _):
            why.add("No beacon of it has been heard yet, and the silence is too short to conclude that it is empty.")
        case (.inside, _):
            let by = holder.map { " at \($0)" } ?? ""
            // The time-out of a region that was inside in the last run starts with this run.
            let span = Int64(rules.exitTimeout / .nanoseconds(1))
            let isAssumed = rules.deadline.map { $0.nanoseconds - span <= (origin?.nanoseconds ?? 0) } ?? false
            why.add(
                isAssumed
                    ? "It was inside when beacond ended, and no beacon of it was heard since beacond started."
                    : "A beacon of it was heard\(by), strong enough, and not too long ago.")
            if let deadline = rules.deadline, let now = time {
                let left = max(0, deadline.since(now))
                why.add("Left unless heard within", Self.seconds(left))
                if !rules.isExitAdaptive, !isAssumed {
                    let passed = max(0, span - left)
                    why.add("Last heard", "\(Self.seconds(passed)) ago")
                }
            } else {
                why.add(
                    "It has been silent for long enough, but this silence does not count: its receiver is deaf."
                )
            }
        case (.outside, _): why.add("No advert of it was heard for its time, or none was strong enough.")
        }
        why.add("Left after", "\(patience) unheard")
        if rules.isSignalLearned {
            why.add("Signal", "learned: entered within 10 dB of the strongest, kept within 20 dB")
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

    /// Returns an explanation of a beacon's place; nil if the beacon is unknown.
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
                why.add("It is heard strongest there\(place.receiver.map { ", at \($0)" } ?? "").")
            case .outside:
                why.title = "\(title) is in no place"
                why.add("No receiver has heard it for long enough.")
            case .unknown:
                why.title = "\(title) is in an unknown place"
                why.add("The working receivers cannot locate it: a receiver that could is deaf.")
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
            let distance = ranged.accuracy < 0 ? "" : ", \(Self.distance(of: ranged))"
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
            why.add("Deaf", receiver.name + (receiver.reason.map { ": \($0)" } ?? ""))
        }
    }

    private static func seconds(_ nanoseconds: Int64) -> String { "\((Double(nanoseconds) / 1e8).rounded() / 10) s" }

    private static func distance(of beacon: RangedBeacon) -> String {
        if let least = beacon.leastDistance { return "more than \(Int(least.rounded())) m" }
        return "\((beacon.accuracy * 10).rounded() / 10) m"
    }

    private static func decibels(_ value: Double, _ unit: String) -> String { "\((value * 10).rounded() / 10) \(unit)" }
}
