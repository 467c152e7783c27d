/// A check for beacon code that a condition excludes on Linux.
struct ConditionCheck {
    let graph: TypeGraph
    let sources: [SourceSkim]
    let isContext: [Bool]

    func findings() -> [DelegateFinding] {
        var findings: [DelegateFinding] = []
        for (source, skim) in sources.enumerated() where !isContext[source] {
            for block in skim.blocks where block.isReachable && !block.namesLinux {
                // Separate beacon code for Linux is intentional.
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

    /// Returns the directive that also includes Linux. A list of systems gets Linux added, so that it still excludes
    /// systems with Core Location but without ranging. A test for a module becomes a test for the right module.
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
            problem: "'\(branch.text)' excludes the beacon code below it on Linux ('\(word.text)' on line \(line))",
            advice: "include Linux" + (replacement.map { " with '\($0)'" } ?? " with a condition that holds there")
                + ", and move only the Apple-specific code into a separate condition",
            replacement: replacement)
    }
}
