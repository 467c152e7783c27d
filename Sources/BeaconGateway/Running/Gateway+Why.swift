import BeaconModel
import BeaconMonitoring
import BeaconSupport

/// Why something is as it is, in sentences, and what would change it.
struct WhyValue: Encodable, Sendable {
    struct Fact: Encodable, Sendable {
        var label: String
        var value: String
    }

    var title: String
    var sentences: [String]
    var facts: [Fact]
}

extension Gateway {
    /// Returns why a region has its state; nil where there is no such region.
    func why(region name: String) -> WhyValue? {
        if let fleet { return why(region: name, in: fleet) }
        guard let region = configuration.regions.first(where: { $0.name == name }),
            let id = condition(of: name), let rules = core.explanation(of: id)
        else { return nil }
        let (state, known) = (core.publishedState(of: id), core.knownState(of: id))
        var why = WhyValue(title: "\(name): \(state)", sentences: [], facts: [])
        let patience =
            "\(DurationText.text(rules.exitTimeout))\(rules.isExitAdaptive ? ", or three of its usual gaps" : "")"
        let holder = rules.receiver.map(self.name)
        switch (state, known) {
        case (.unknown, .inside), (.unknown, .outside):
            why.sentences.append(
                "No receiver that could hear it hears at the moment, so nothing is known. Before, it was \(known); once a receiver hears again, that is compared with what is heard."
            )
        case (.unknown, _):
            why.sentences.append(
                "Nothing has been heard of it so far, and not for long enough to say that nobody is there.")
        case (.inside, _):
            let by = holder.map { " at \($0)" } ?? ""
            // What is inside from an earlier run has its time-out from the beginning of this one.
            let span = Int64(rules.exitTimeout / .nanoseconds(1))
            let isAssumed = rules.deadline.map { $0.nanoseconds - span <= (origin?.nanoseconds ?? 0) } ?? false
            why.sentences.append(
                isAssumed
                    ? "It was inside when beacond ended, and nothing was heard of it since beacond began."
                    : "A beacon of it was heard\(by), strong enough, and not too long ago.")
            if let deadline = rules.deadline, let now = core.time {
                let left = max(0, deadline.since(now))
                why.facts.append(.init(label: "Left unless heard within", value: Self.seconds(left)))
                if !rules.isExitAdaptive, !isAssumed {
                    let passed = max(0, span - left)
                    why.facts.append(.init(label: "Last heard", value: "\(Self.seconds(passed)) ago"))
                }
            } else {
                why.sentences.append(
                    "It has been silent for its time, but in a silence that does not count: its receiver does not hear."
                )
            }
        case (.outside, _): why.sentences.append("Nothing of it was heard for its time, or nothing strong enough.")
        }
        why.facts.append(.init(label: "Left after", value: "\(patience) unheard"))
        if rules.isSignalLearned {
            why.facts.append(
                .init(label: "Signal", value: "learnt: entered within 10 dB of the strongest, kept within 20 dB"))
        } else if let minimum = rules.minimumRSSI {
            why.facts.append(.init(label: "Entered from", value: "\(minimum) dBm"))
            why.facts.append(.init(label: "Kept from", value: "\(rules.exitRSSI ?? minimum) dBm"))
        } else {
            why.facts.append(.init(label: "Signal", value: "any"))
        }
        addHeard(region.region.constraint, to: &why)
        addDeaf(to: &why)
        switch state {
        case .inside:
            why.facts.append(
                .init(label: "What would change it", value: "\(patience) without an advert, while a receiver hears"))
        case .outside:
            why.facts.append(.init(label: "What would change it", value: "one advert of a beacon of it, strong enough"))
        case .unknown:
            why.facts.append(
                .init(
                    label: "What would change it",
                    value:
                        "an advert of it, or \(DurationText.text(rules.exitTimeout)) of silence while a receiver hears")
            )
        }
        return why
    }

    /// Returns why a beacon is where it is said to be; nil where nothing is known of it.
    func why(beacon: BeaconIdentity) -> WhyValue? {
        let title = names[beacon] ?? "\(beacon.major)/\(beacon.minor)"
        let heard = view.reports(at: core.time).flatMap { report in
            report.beacons.filter { $0.identity == beacon }.map { (report.receiver, $0) }
        }
        let place = view.whereabouts[beacon]
        guard place != nil || !heard.isEmpty else { return nil }
        var why = WhyValue(title: title, sentences: [], facts: [])
        if let place {
            switch place.state {
            case .inside:
                why.title = "\(title) is in \(place.place ?? "a place")"
                why.sentences.append("It is heard strongest there\(place.receiver.map { ", at \($0)" } ?? "").")
            case .outside:
                why.title = "\(title) is in no place"
                why.sentences.append("No receiver has heard it for long enough.")
            case .unknown:
                why.title = "\(title) is somewhere unknown"
                why.sentences.append("The receivers that hear cannot tell where it is: one that could is deaf.")
            }
            if let level = place.level {
                why.facts.append(.init(label: "Level there", value: Self.decibels(level, "dBm")))
            }
            if let runnerUp = place.runnerUp {
                let margin = place.margin.map { ", behind by \(Self.decibels($0, "dB"))" } ?? ""
                why.facts.append(.init(label: "Next", value: runnerUp + margin))
            }
            if let rules = configuration.places?.rules {
                why.facts.append(
                    .init(
                        label: "What would change it",
                        value:
                            "another place that leads by \(Self.decibels(rules.margin, "dB")) for \(DurationText.text(rules.holdTime)), or \(DurationText.text(rules.exitTimeout)) unheard"
                    ))
            }
        }
        for (receiver, ranged) in heard {
            let distance = ranged.accuracy < 0 ? "" : ", \((ranged.accuracy * 10).rounded() / 10) m"
            let heard =
                ranged.rssi == 0 ? "not heard at the moment" : "\(ranged.proximity)\(distance), \(ranged.rssi) dBm"
            why.facts.append(.init(label: "At \(receiver)", value: heard))
        }
        addDeaf(to: &why)
        return why
    }

    private func addHeard(_ constraint: BeaconConstraint, to why: inout WhyValue) {
        for report in view.reports(at: core.time) {
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
        for receiver in receiverValues where receiver.hearing == "deaf" {
            why.facts.append(
                .init(label: "Does not hear", value: receiver.name + (receiver.reason.map { ": \($0)" } ?? "")))
        }
    }

    private static func seconds(_ nanoseconds: Int64) -> String { "\((Double(nanoseconds) / 1e8).rounded() / 10) s" }

    private static func decibels(_ value: Double, _ unit: String) -> String { "\((value * 10).rounded() / 10) \(unit)" }
}
