internal import SwiftSyntax

/// A type in its original and in its canonical spelling.
struct TypeName: Hashable, Sendable {
    /// The type as it is written, on one line.
    let text: String

    /// The canonical spelling: no module names, no `any`, and sugar for optionals, arrays and dictionaries.
    let canonical: String

    /// The names in it, without module names.
    private let names: [String]

    /// No result.
    static let void = TypeName(text: "Void", canonical: "()", names: [])

    private init(text: String, canonical: String, names: [String]) {
        self.text = text
        self.canonical = canonical
        self.names = names
    }

    /// Reads a type; nil if it is missing. A type that cannot be read keeps its original spelling.
    init?(_ type: TypeSyntax, isVariadic: Bool = false, in file: SourceFile) {
        if type.is(MissingTypeSyntax.self) { return nil }
        var reader = TypeReader()
        text = file.line(of: type) + (isVariadic ? "..." : "")
        if let canonical = reader.canonical(type, depth: 0) {
            self.canonical = canonical + (isVariadic ? "..." : "")
            names = reader.names
        } else {
            canonical = text
            // An unknown name makes every comparison undecided.
            names = [""]
        }
    }

    /// Returns whether two types are the same; nil if the result depends on a name that could be an alias.
    func isEqual(to other: TypeName, isType: (String) -> Bool) -> Bool? {
        if canonical == other.canonical { return true }
        return names.allSatisfy(isType) ? false : nil
    }
}

/// A reader that returns the canonical spelling of a type and collects its names.
private struct TypeReader {
    private(set) var names: [String] = []

    mutating func canonical(_ type: TypeSyntax, depth: Int) -> String? {
        guard depth < 32 else { return nil }
        func read(_ type: TypeSyntax) -> String? { canonical(type, depth: depth + 1) }
        switch type.as(TypeSyntaxEnum.self) {
        case .identifierType, .memberType:
            return name(type, depth: depth)
        case .attributedType(let type):
            let isInOut = type.specifiers.contains {
                $0.as(SimpleTypeSpecifierSyntax.self)?.specifier.tokenKind == .keyword(.inout)
            }
            return read(type.baseType).map { isInOut ? "inout " + $0 : $0 }
        case .someOrAnyType(let type):
            let isSome = type.someOrAnySpecifier.tokenKind == .keyword(.some)
            return read(type.constraint).map { isSome ? "some " + $0 : $0 }
        case .optionalType(let type):
            return read(type.wrappedType).map { $0 + "?" }
        case .implicitlyUnwrappedOptionalType(let type):
            return read(type.wrappedType).map { $0 + "!" }
        case .arrayType(let type):
            return read(type.element).map { "[" + $0 + "]" }
        case .dictionaryType(let type):
            guard let key = read(type.key), let value = read(type.value) else { return nil }
            return "[" + key + ":" + value + "]"
        case .compositionType(let type):
            let parts = type.elements.compactMap { read($0.type) }
            return parts.count == type.elements.count ? parts.joined(separator: "&") : nil
        case .tupleType(let type):
            guard let parts = elements(type.elements, depth: depth) else { return nil }
            return parts.count == 1 ? parts[0] : "(" + parts.joined(separator: ",") + ")"
        case .functionType(let type):
            guard let parts = elements(type.parameters, depth: depth), let result = read(type.returnClause.type)
            else { return nil }
            let effects = type.effectSpecifiers.map { ($0.asyncSpecifier, $0.throwsClause) }
            return "(" + parts.joined(separator: ",") + ")" + (effects?.0 == nil ? "" : " async")
                + (effects?.1 == nil ? "" : " throws") + "->" + result
        default:
            return nil
        }
    }

    /// Returns the element types of a tuple. Labels are not compared.
    private mutating func elements(_ list: TupleTypeElementListSyntax, depth: Int) -> [String]? {
        var parts: [String] = []
        for element in list {
            guard let part = canonical(element.type, depth: depth + 1) else { return nil }
            parts.append(element.ellipsis == nil ? part : part + "...")
        }
        return parts
    }

    private mutating func name(_ type: TypeSyntax, depth: Int) -> String? {
        guard var path = type.path else { return nil }
        if path.count > 1, Self.modules.contains(path[0]) { path.removeFirst() }
        if path == ["Void"] { return "()" }
        let name = path.joined(separator: ".")
        let clause =
            type.as(IdentifierTypeSyntax.self)?.genericArgumentClause
            ?? type.as(MemberTypeSyntax.self)?.genericArgumentClause
        guard let clause else {
            names += path
            return Self.aliases[name] ?? name
        }
        var arguments: [String] = []
        for argument in clause.arguments {
            guard case .type(let type) = argument.argument, let read = canonical(type, depth: depth + 1) else {
                return nil
            }
            arguments.append(read)
        }
        switch (name, arguments.count) {
        case ("Optional", 1): return arguments[0] + "?"
        case ("Array", 1): return "[" + arguments[0] + "]"
        case ("Dictionary", 2): return "[" + arguments[0] + ":" + arguments[1] + "]"
        default:
            names += path
            return name + "<" + arguments.joined(separator: ",") + ">"
        }
    }

    private static let modules: Set<String> = [
        "CoreLocation", "CoreBluetooth", "Foundation", "Swift", "ObjectiveC", "CoreFoundation", "FoundationEssentials",
    ]

    /// Apple's aliases of other types in delegate methods.
    private static let aliases = ["CFAbsoluteTime": "Double", "TimeInterval": "Double", "CBL2CAPPSM": "UInt16"]
}

extension TypeSyntax {
    /// The parts of a dotted name, without generic arguments; nil if the type is not a name.
    package var path: [String]? {
        var path: [String] = []
        var type = self
        while let member = type.as(MemberTypeSyntax.self) {
            path.append(member.name.bareText)
            type = member.baseType
        }
        guard let first = type.as(IdentifierTypeSyntax.self) else { return nil }
        path.append(first.name.bareText)
        return path.reversed()
    }

    /// The names of a composition, or the single name; nil if it contains another type.
    package var paths: [[String]]? {
        if let type = self.as(AttributedTypeSyntax.self) { return type.baseType.paths }
        if let type = self.as(SomeOrAnyTypeSyntax.self) { return type.constraint.paths }
        guard let composition = self.as(CompositionTypeSyntax.self) else { return path.map { [$0] } }
        let parts = composition.elements.map(\.type.path)
        let names = parts.compactMap(\.self)
        return names.count == parts.count ? names : nil
    }
}
