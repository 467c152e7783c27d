internal import BeaconApplications
internal import BeaconMonitoring

/// A situation that apps meet: a course of events, and the behavior of a correct app.
struct Situation: Sendable {
    /// The property that an app must have for a situation to apply.
    enum Need: Sendable {
        /// Regions, conditions or constraints.
        case beacons
        /// A region that two beacons can satisfy.
        case secondBeacon
        /// Two regions without a common beacon.
        case otherRegion
        /// Requests for events in the background.
        case background
        /// The capability to be launched for events.
        case launches
        /// A permission for use in the foreground only.
        case foregroundOnly
        /// The app advertises.
        case advert
        /// Conditions of a `CLMonitor`.
        case conditions
        /// A region with `notifyEntryStateOnDisplay`.
        case displayState
    }

    let number: Int
    let name: String
    /// What happens, in a sentence.
    let course: String
    /// The behavior of a correct app.
    let expected: String
    let sources: [Conformance.Source]
    let needs: [Need]
    let script: [Step]
    let judge: @Sendable (inout Judgement) -> Void

    init(
        _ number: Int, _ name: String, _ course: String, expects expected: String, _ sources: Conformance.Source...,
        needs: [Need] = [.beacons], script: [Step],
        judge: @escaping @Sendable (inout Judgement) -> Void
    ) {
        self.number = number
        self.name = name
        self.course = course
        self.expected = expected
        self.sources = sources
        self.needs = needs
        self.script = script
        self.judge = judge
    }

    /// All situations, by number.
    static let all = visits + ranging + background + launches + settings

    /// The situations from which an app's habits are learned.
    static let references: Set = [1, 3, 4, 7, 15]

    /// Returns the reason why the situation does not apply to an app; nil if it does.
    @MainActor
    func isMissing(_ subject: Conformance.Subject) -> String? {
        guard number != 1 else { return nil }
        for need in needs { if let reason = need.reason(subject) { return reason } }
        return nil
    }
}

extension Situation.Need {
    @MainActor
    fileprivate func reason(_ subject: Conformance.Subject) -> String? {
        let (requests, identities) = (subject.requests, subject.identities)
        return switch self {
        case .beacons: identities.first == nil ? "The app monitors and ranges nothing after its launch." : nil
        case .secondBeacon: identities.second == nil ? "No region of the app has two beacons." : nil
        case .otherRegion: identities.other == nil ? "The app has no second region." : nil
        case .background: subject.isForForegroundOnly ? "The app asks for permission while in use only." : nil
        case .launches:
            subject.options.hasLocationBackgroundMode == false
                ? "The app lacks UIBackgroundModes: location, which Apple asks for to launch it." : nil
        case .foregroundOnly: subject.isForForegroundOnly ? nil : "The app asks for more than permission while in use."
        case .advert: requests.advertCount == 0 ? "The app advertises nothing after its launch." : nil
        case .conditions: requests.conditions.isEmpty ? "The app has no CLMonitor with conditions." : nil
        case .displayState:
            requests.regions.contains(where: \.notifiesEntryStateOnDisplay)
                ? nil : "No region of the app has notifyEntryStateOnDisplay."
        }
    }
}

/// The judgement of one situation.
struct Judgement: Sendable {
    /// The number of equal notes in a stay of 90 s from which an app notes each second.
    static let eachSecond = 6

    /// The facts that the developer gave about the app.
    struct Facts: Sendable {
        /// True if the app learns when it leaves the foreground.
        var knowsScenes: Bool
        /// The identifiers of the regions that earlier versions monitored.
        var formerRegions: Set<String>
        /// True if the app has the background mode for locations; nil if that is not known.
        var hasBackgroundMode: Bool?
    }

    let situation: Situation
    let transcript: Transcript
    let habits: Habits
    let facts: Facts
    /// The findings of this and earlier situations.
    private(set) var findings: [Conformance.Finding]

    init(
        _ situation: Situation, _ transcript: Transcript, _ habits: Habits, _ facts: Facts,
        after findings: [Conformance.Finding]
    ) {
        self.situation = situation
        self.transcript = transcript
        self.habits = habits
        self.facts = facts
        self.findings = findings
    }

    /// Adds a finding. Its weight follows from the sources, unless it is only a remark.
    mutating func find(_ text: String, at time: Double, isRemark: Bool = false) {
        let isConfirmed = situation.sources.contains { $0.trust == .apple || $0.trust == .engineer }
        findings.append(
            Conformance.Finding(
                situation: situation.number, severity: isRemark ? .remark : isConfirmed ? .error : .warning, text: text,
                expected: situation.expected, time: time.isFinite ? time : 0, sources: situation.sources))
    }

    /// Returns true if one of these situations already has a finding. Then another one would only follow from it.
    func hasFinding(in numbers: Int...) -> Bool {
        findings.contains { numbers.contains($0.situation) && $0.severity > .remark }
    }

    func time(_ mark: String) -> Double { transcript.time(mark) }

    /// The notes of an arrival between two marks.
    func arrivals(from: String, to: String? = nil) -> [Transcript.Note] {
        transcript.notes(from: from, to: to).filter { habits.isArrival($0.text) }
    }

    /// The notes of a departure between two marks.
    func departures(from: String, to: String? = nil) -> [Transcript.Note] {
        transcript.notes(from: from, to: to).filter { habits.isDeparture($0.text) }
    }

    /// The notes of an arrival that repeat an earlier one of the same visit.
    func repeatedArrivals(from: String, to: String? = nil) -> [Transcript.Note] {
        let before = Set(transcript.notes(to: time(from)).map(\.text))
        return arrivals(from: from, to: to).filter { before.contains($0.text) }
    }

    /// A Boolean value indicating whether the visit's notes can be counted.
    var canCount: Bool { !habits.arrivals.isEmpty && !habits.repeats }

    /// Returns the text that occurs most often, and its times.
    static func mostRepeated(_ notes: [Transcript.Note]) -> (text: String, count: Int, times: [Double]) {
        let most = Dictionary(grouping: notes, by: \.text).max { ($0.value.count, $1.key) < ($1.value.count, $0.key) }
        return (most?.key ?? "", most?.value.count ?? 0, most?.value.map(\.time) ?? [])
    }
}
