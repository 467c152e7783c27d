/// A rule that makes iOS code compile for Linux.
protocol PortRule: Sendable {
    /// Returns the changes to a source, and the places that a person must decide about.
    func findings(in file: PortFile) -> RuleFindings
}

/// The findings of rules in a source.
struct RuleFindings {
    /// The changes.
    var changes: [Change] = []

    /// The places that a person must decide about.
    var decisions: [Decision] = []

    /// Adds a change.
    mutating func change(_ edits: [Edit], at offset: Int, _ summary: String) {
        changes.append(Change(edits: edits, offset: offset, summary: summary))
    }

    /// Adds a place that a person must decide about.
    mutating func decide(at offset: Int, _ reason: String, _ remedy: String) {
        decisions.append(Decision(offset: offset, reason: reason, remedy: remedy))
    }

    /// Adds the findings of another rule.
    static func += (left: inout RuleFindings, right: RuleFindings) {
        left.changes += right.changes
        left.decisions += right.decisions
    }
}
