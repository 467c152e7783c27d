package import SwiftSyntax

/// A walk over a syntax tree, parents first. It is not recursive, so the depth of a source is not limited.
package enum SyntaxWalk {
    /// Visits a node and all its descendants.
    ///
    /// - Parameter visit: receives a node and the state that its parent returned. It returns the state for the
    ///   children, or nil to skip them.
    package static func run<State>(
        _ root: some SyntaxProtocol, _ state: State, visit: (_ node: Syntax, _ state: State) -> State?
    ) {
        var open = [(node: Syntax(root), state: state)]
        while let (node, state) = open.popLast() {
            guard let next = visit(node, state), node.kind != .token else { continue }
            for child in node.children(viewMode: .sourceAccurate).reversed() { open.append((child, next)) }
        }
    }
}
