/// A rule that makes code of iOS compile for Linux.
protocol PortRule: Sendable {
    /// Returns the changes to a source, and the places that it leaves to a human.
    func findings(in file: PortFile) -> RuleFindings
}

/// The findings of rules in a source.
struct RuleFindings {
    /// The changes.
    var changes: [Change] = []

    /// The places for a human.
    var decisions: [Decision] = []

    /// Adds a change.
    mutating func change(_ edits: [Edit], at offset: Int, _ summary: String) {
        changes.append(Change(edits: edits, offset: offset, summary: summary))
    }

    /// Adds a place for a human.
    mutating func decide(at offset: Int, _ reason: String, _ remedy: String) {
        decisions.append(Decision(offset: offset, reason: reason, remedy: remedy))
    }

    /// Adds the findings of another rule.
    static func += (left: inout RuleFindings, right: RuleFindings) {
        left.changes += right.changes
        left.decisions += right.decisions
    }
}
