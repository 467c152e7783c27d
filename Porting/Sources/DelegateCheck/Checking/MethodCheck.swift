/// A check for callbacks that Linux never calls: callbacks added by a subclass, and methods similar to a delegate
/// method.
struct MethodCheck {
    private let graph: TypeGraph
    private let sources: [SourceSkim]
    private let isContext: [Bool]
    private let matcher: MethodMatcher

    /// The requirements of protocols in the sources, which a method may implement instead.
    private let ownRequirements: Set<String>

    init(graph: TypeGraph, sources: [SourceSkim], isContext: [Bool]) {
        self.graph = graph
        self.sources = sources
        self.isContext = isContext
        matcher = MethodMatcher(typeNames: graph.typeNames)
        ownRequirements = Set(
            graph.nodes.lazy.flatMap(\.members).filter(\.isRequirement).map(\.function.signature.fullName))
    }

    func findings() -> [DelegateFinding] {
        var findings: [DelegateFinding] = []
        for node in graph.nodes.indices {
            let kind = graph.nodes[node].kind
            guard kind != .value, kind != .alias, !graph.nodes[node].members.isEmpty else { continue }
            let lineage = graph.lineage(of: node)
            var isConforming = false
            var seen: Set<String> = []
            // Only methods of the topmost conforming class are called.
            for holder in lineage.reversed() {
                for name in graph.ownDelegates(of: holder) where seen.insert(name).inserted {
                    guard let delegate = DelegateTable.byName[name] else { continue }
                    isConforming = true
                    findings += self.findings(in: node, lineage: lineage, holder: holder, delegate: delegate)
                }
            }
            if !isConforming, mayConform(lineage) {
                for delegate in DelegateTable.delegates { findings += plainFindings(in: node, delegate: delegate) }
            }
        }
        return findings
    }

    // MARK: Types that conform

    private func findings(
        in node: Int, lineage: [Int], holder: Int, delegate: DelegateProtocol
    ) -> [DelegateFinding] {
        var findings: [DelegateFinding] = []
        let implemented = ImplementedMethods(members(of: lineage[...]), delegate: delegate, matcher: matcher)
        // A call reaches the methods of the conforming class and its superclasses.
        let above = lineage.drop { $0 != holder }
        let reached = ImplementedMethods(members(of: above), delegate: delegate, matcher: matcher)
        for member in graph.nodes[node].members where isCandidate(member) {
            switch matcher.match(member.function.signature, with: delegate) {
            case .exact(let method):
                guard node != holder, graph.nodes[node].kind == .class, !reached.has(method) else {
                    continue
                }
                findings.append(subclassFinding(member, method, node: node, holder: holder, delegate: delegate))
            case .near(let method, let differences, _):
                // Code for older systems has the old and the new form side by side.
                if implemented.serves(method) { continue }
                findings.append(signatureFinding(member, method, differences, delegate: delegate))
            case .none:
                break
            }
        }
        return findings
    }

    private func members(of lineage: ArraySlice<Int>) -> [TypeGraph.Member] {
        lineage.flatMap { graph.nodes[$0].members }
    }

    private func isCandidate(_ member: TypeGraph.Member) -> Bool {
        let function = member.function
        return !isContext[member.source] && !function.isOverride && !function.isPrivate
            && !member.isInConstrainedExtension && !ownRequirements.contains(function.signature.fullName)
    }

    // MARK: Types that may conform

    /// Returns whether a type inherits from a type that is declared elsewhere and may be a delegate.
    private func mayConform(_ lineage: [Int]) -> Bool {
        lineage.contains { node in
            graph.nodes[node].unknownParents.contains { name in
                !Self.plainParents.contains(name) && !["NS", "UI", "WK", "CL", "CB"].contains { name.hasPrefix($0) }
            }
        }
    }

    private func plainFindings(in node: Int, delegate: DelegateProtocol) -> [DelegateFinding] {
        guard graph.nodes[node].kind == .class else { return [] }
        let members = graph.nodes[node].members
        let implemented = ImplementedMethods(members, delegate: delegate, matcher: matcher)
        return members.filter(isCandidate).compactMap { member in
            let match = matcher.match(member.function.signature, with: delegate)
            guard case .near(let method, let differences, true) = match, !implemented.serves(method) else { return nil }
            return signatureFinding(member, method, differences, delegate: delegate)
        }
    }

    /// Inherited types from elsewhere that are not delegates.
    private static let plainParents: Set<String> = [
        "AnyObject", "CaseIterable", "Codable", "Comparable", "CustomStringConvertible", "Decodable", "Encodable",
        "Equatable", "Error", "Hashable", "Identifiable", "ObservableObject", "Sendable", "View", "XCTestCase",
    ]

    // MARK: Findings

    private func subclassFinding(
        _ member: TypeGraph.Member, _ method: DelegateMethod, node: Int, holder: Int, delegate: DelegateProtocol
    ) -> DelegateFinding {
        let base = graph.nodes[holder].name
        return finding(
            member, .subclass, method,
            problem: "'\(member.function.signature.fullName)' is never called on Linux: '\(base)' conforms to "
                + "\(delegate.name) and does not declare it, and '\(graph.nodes[node].name)' only inherits "
                + "the conformance",
            advice: "declare '\(method.signature) {}' in the body of '\(base)' and override it here")
    }

    private func signatureFinding(
        _ member: TypeGraph.Member, _ method: DelegateMethod, _ differences: [String], delegate: DelegateProtocol
    ) -> DelegateFinding {
        finding(
            member, .signature, method,
            problem: "'\(member.function.signature.fullName)' is nearly a method of \(delegate.name) and is never "
                + "called on Linux: \(differences.joined(separator: ", "))",
            advice: "write '\(method.signature)'")
    }

    private func finding(
        _ member: TypeGraph.Member, _ kind: DelegateFinding.Kind, _ method: DelegateMethod, problem: String,
        advice: String
    ) -> DelegateFinding {
        let skim = sources[member.source]
        let place = skim.place(of: member.function.start)
        return DelegateFinding(
            path: skim.path, line: place.line, column: place.column, kind: kind, problem: problem, advice: advice,
            replacement: method.signature)
    }
}

/// The methods of a delegate that a list of members implements.
struct ImplementedMethods {
    private var signatures: Set<String> = []
    private var purposes: Set<String> = []

    init(_ members: [TypeGraph.Member], delegate: DelegateProtocol, matcher: MethodMatcher) {
        for member in members {
            guard case .exact(let method) = matcher.match(member.function.signature, with: delegate) else { continue }
            signatures.insert(method.signature)
            if let purpose = method.purpose { purposes.insert(purpose) }
        }
    }

    /// Returns whether a method is implemented.
    func has(_ method: DelegateMethod) -> Bool {
        signatures.contains(method.signature)
    }

    /// Returns whether a method, or another for the same purpose, is implemented.
    func serves(_ method: DelegateMethod) -> Bool {
        has(method) || method.purpose.map(purposes.contains) ?? false
    }
}
