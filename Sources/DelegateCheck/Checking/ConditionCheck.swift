/// A check for beacon code that a condition keeps from Linux.
struct ConditionCheck {
    let graph: TypeGraph
    let sources: [SourceSkim]
    let isContext: [Bool]

    func findings() -> [DelegateFinding] {
        var findings: [DelegateFinding] = []
        for (source, skim) in sources.enumerated() where !isContext[source] {
            for block in skim.blocks where block.isReachable && !block.namesLinux {
                // Who gives Linux beacon code of its own means it.
                if block.branches.contains(where: { $0.truth.linux != .no && $0.beaconWord != nil }) { continue }
                for branch in block.branches where branch.truth.isKeptFromLinux {
                    guard let word = branch.beaconWord, !branch.declared.contains(where: graph.typeNames.contains)
                    else {
                        continue
                    }
                    findings.append(finding(branch, word: word, in: skim))
                }
            }
        }
        return findings
    }

    /// Returns the directive that Linux passes too. One that names systems gets one more, so that it still says no
    /// where Core Location is but ranging is not; one that asks for a module asks for the right one.
    private func replacement(for text: String) -> String? {
        if text.hasPrefix("#else"), !text.hasPrefix("#elseif") { return nil }
        let isList = text.contains("os(") && !["&&", "!", "canImport"].contains(where: text.contains)
        return isList ? text + " || os(Linux)" : "#if canImport(CoreLocation)"
    }

    private func finding(
        _ branch: ConditionalBlock.Branch, word: (text: String, start: Int), in skim: SourceSkim
    ) -> DelegateFinding {
        let place = skim.place(of: branch.start)
        let line = skim.place(of: word.start).line
        let replacement = replacement(for: branch.text)
        return DelegateFinding(
            path: skim.path, line: place.line, column: place.column, kind: .condition,
            problem: "'\(branch.text)' keeps the beacon code below it from Linux ('\(word.text)' on line \(line))",
            advice: "let Linux in" + (replacement.map { " with '\($0)'" } ?? " by a condition that holds there")
                + ", and put only what is Apple's alone in a condition of its own",
            replacement: replacement)
    }
}
