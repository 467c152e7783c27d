package import SwiftSyntax

/// A walk over a syntax tree, parents first, that makes no call for each level, so that no source is too deep for it.
package enum SyntaxWalk {
    /// Visits a node and all below it.
    ///
    /// - Parameter visit: gets a node and the state that its parent returned. It returns the state for the children, or
    ///   nil to leave them out.
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
