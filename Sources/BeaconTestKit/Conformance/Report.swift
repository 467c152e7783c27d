internal import BeaconApplications
internal import BeaconModel
internal import BeaconMonitoring

extension Conformance {
    /// The result of a check.
    public struct Report: Sendable, CustomStringConvertible {
        /// What became of a situation.
        public struct Result: Sendable {
            /// Its number, 1 to 40.
            public let number: Int
            /// Its name.
            public let name: String
            /// What happens in it.
            public let course: String
            /// The behavior of a correct app.
            public let expected: String
            /// The public sources of the expectation.
            public let sources: [Source]
            /// The findings and remarks.
            public let findings: [Finding]
            /// The reason why the situation does not apply to the app; nil if it was run.
            public let skipped: String?
            /// The events, the app's callbacks and its actions, a line each. Equal reports in a row are left out.
            public let transcript: [String]
        }

        /// The app's name.
        public let name: String
        /// The situations, by number.
        public let results: [Result]
        /// The questions that the check could not judge, a sentence each.
        public let limits: [String]

        init(
            _ name: String, _ transcripts: [Int: Transcript], skipped: [Int: String], _ facts: Judgement.Facts
        ) {
            self.name = name
            let habits = Habits(transcripts)
            var findings: [Finding] = []
            for situation in Situation.all {
                guard let transcript = transcripts[situation.number] else { continue }
                var judgement = Judgement(situation, transcript, habits, facts, after: findings)
                situation.judge(&judgement)
                findings = judgement.findings
            }
            results = Situation.all.sorted { $0.number < $1.number }.compactMap { situation in
                let reason = skipped[situation.number]
                guard reason != nil || transcripts[situation.number] != nil else { return nil }
                return Result(
                    number: situation.number, name: situation.name, course: situation.course,
                    expected: situation.expected, sources: situation.sources,
                    findings: findings.filter { $0.situation == situation.number }, skipped: reason,
                    transcript: transcripts[situation.number]?.lines ?? [])
            }
            limits = habits.limits
        }

        /// The errors and warnings, the heaviest first.
        public var findings: [Finding] {
            all.filter { $0.severity > .remark }.sorted { ($1.severity, $0.situation) < ($0.severity, $1.situation) }
        }

        /// The findings that Apple's documents or engineers confirm.
        public var errors: [Finding] { all.filter { $0.severity == .error } }

        /// Advice that does not count as a finding.
        public var remarks: [Finding] { all.filter { $0.severity == .remark } }

        private var all: [Finding] { results.flatMap(\.findings) }

        /// The findings, a line each, as a failed expectation prints them.
        public var description: String {
            let lines = findings.map(\.description) + limits
            return lines.isEmpty ? "\(name): no findings" : ([name + ":"] + lines).joined(separator: "\n")
        }
    }
}

extension Habits {
    /// What cannot be judged.
    var limits: [String] {
        var result: [String] = []
        if !listens {
            result.append(
                """
                The app monitors and ranges nothing after its launch, so no visit was judged. If it waits for a \
                button, press it in the closure that makes the app.
                """)
        } else if !notesAnything {
            result.append(
                """
                The app noted nothing, so only its requests were judged. Call note(_:) where it notifies its user or \
                its server.
                """)
        }
        return result
    }
}

extension Transcript {
    /// The transcript as lines of text.
    var lines: [String] {
        var result: [String] = []
        var last: [Proximity]?
        for entry in entries {
            let text: String
            switch entry.content {
            case .world(let change): text = change
            case .launched(let byEvent):
                text = byEvent ? "The system launches the app for an event." : "The app starts."
            case .saw(.ranged(let proximities)):
                guard proximities != last else { continue }
                last = proximities
                text =
                    "  saw ranging: "
                    + (proximities.isEmpty ? "no beacon" : proximities.map { "\($0)" }.joined(separator: ", "))
            case .saw(let sight): text = "  saw \(sight.text)"
            case .requested(let requests): text = "  requests \(requests.text)"
            case .note(let note): text = "  noted \"\(note)\""
            case .show(let show): text = "  shows \"\(show)\""
            }
            result.append("\(Conformance.clock(entry.time)) \(text)")
        }
        return result
    }
}

extension Transcript.Sight {
    fileprivate var text: String {
        switch self {
        case .entered(let region): "didEnterRegion \(region)"
        case .exited(let region): "didExitRegion \(region)"
        case .state(let region, let state): "didDetermineState \(state) for \(region)"
        case .condition(let state): "a monitor's event: \(state)"
        case .ranged: "ranging"
        case .limitExceeded(let region): "monitoringDidFailFor \(region): too many regions"
        case .other(let text): text
        }
    }
}

extension CenterRequests {
    fileprivate var text: String {
        var parts: [String] = []
        if !regions.isEmpty { parts.append("regions \(regions.map(\.identifier).joined(separator: ", "))") }
        if !conditions.isEmpty { parts.append("\(conditions.count) conditions") }
        if !ranged.isEmpty { parts.append("ranging of \(ranged.count) constraints") }
        if advertCount > 0 { parts.append("advertising") }
        return parts.isEmpty ? "nothing" : parts.joined(separator: "; ")
    }
}
