internal import DelegateCheck
internal import SwiftSyntax

/// The names that compiled code uses without a preceding dot: types, functions and attributes.
struct FileWords {
    /// The offsets of each use, by name.
    private(set) var places: [String: [Int]] = [:]

    init(_ file: PortFile) {
        for node in file.live {
            let token: TokenSyntax
            switch node.kind {
            case .identifierType:
                guard let type = node.as(IdentifierTypeSyntax.self) else { continue }
                token = type.name
            case .declReferenceExpr:
                // A name after a dot belongs to the type before the dot.
                guard let name = node.as(DeclReferenceExprSyntax.self),
                    name.parent?.as(MemberAccessExprSyntax.self)?.declName.id != name.id
                else { continue }
                token = name.baseName
            default:
                continue
            }
            places[token.bareText, default: []].append(token.trimmedOffsets.lowerBound)
        }
    }

    /// Returns whether none of the names is used, except for the module's own types.
    func isDisjoint(with names: Set<String>, in file: PortFile) -> Bool {
        names.allSatisfy { places[$0] == nil || file.module.declared.contains($0) }
    }

    /// Returns whether a used name starts with a prefix.
    func hasPrefix(_ prefix: String) -> Bool {
        places.keys.contains { $0.hasPrefix(prefix) }
    }
}
