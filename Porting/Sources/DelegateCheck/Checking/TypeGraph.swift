/// The types of a module across its files, with their names, inherited types and members.
struct TypeGraph {
    /// A function of a type, with its source.
    struct Member {
        var source: Int
        var function: FunctionDeclaration
        var isInConstrainedExtension: Bool

        /// A Boolean value that indicates whether it is in a protocol, without a body.
        var isRequirement: Bool
    }

    /// A type with all its extensions. It may belong to another module if the sources extend it.
    struct Node {
        var name: String
        var kind: TypeDeclaration.Kind
        var parents: [Int] = []
        var unknownParents: [String] = []
        var members: [Member] = []
    }

    /// A scope of declared names.
    private struct Scope: Hashable {
        /// The source, or -1 for names that all sources see.
        var source: Int
        var number: Int
    }

    private(set) var nodes: [Node] = []

    /// The names of types that the sources declare.
    private(set) var typeNames: Set<String> = []

    private var names: [Scope: [String: Int]] = [:]

    /// The scopes of each type's bodies, which contain its nested types.
    private var bodies: [[Scope]] = []
    private let sources: [SourceSkim]

    /// The type of each declaration of each source.
    private var nodeOfDeclaration: [[Int?]]

    init(_ sources: [SourceSkim]) {
        self.sources = sources
        nodeOfDeclaration = sources.map { Array(repeating: nil, count: $0.types.count) }
        addTypes()
        addExtensions()
        addParents()
        addMembers()
    }

    /// Returns the superclass, if the sources contain it.
    func superclass(of node: Int) -> Int? {
        nodes[node].parents.first { nodes[$0].kind == .class }
    }

    /// Returns a class and its superclasses, nearest first.
    func lineage(of node: Int) -> [Int] {
        var lineage = [node]
        while let next = lineage.last.flatMap(superclass(of:)), !lineage.contains(next), lineage.count < 100 {
            lineage.append(next)
        }
        return lineage
    }

    /// Returns the delegates that a type itself conforms to: by name, through an alias or through a protocol that
    /// refines a delegate.
    func ownDelegates(of node: Int) -> [String] {
        var delegates: [String] = []
        var seen: Set<Int> = [node]
        var open = [node]
        // No real delegate is refined so often. The bound limits the time for any source.
        while let next = open.popLast(), seen.count < 256 {
            delegates += nodes[next].unknownParents.filter { DelegateTable.byName[$0] != nil }
            for parent in nodes[next].parents where nodes[parent].kind != .class && seen.insert(parent).inserted {
                open.append(parent)
            }
        }
        return delegates
    }

    // MARK: Building

    private mutating func addTypes() {
        for (source, skim) in sources.enumerated() {
            for (number, type) in skim.types.enumerated() where type.kind != .extension {
                guard let name = type.path.last else { continue }
                // Private types of the same name in two files are different types.
                let isOfFile = type.scope != 0 || type.isPrivate
                let scope = Scope(source: isOfFile ? source : -1, number: type.scope)
                let node = names[scope]?[name] ?? add(Node(name: name, kind: type.kind), in: scope)
                bodies[node].append(Scope(source: source, number: type.bodyScope))
                nodeOfDeclaration[source][number] = node
                if type.kind != .alias { typeNames.insert(name) }
            }
        }
    }

    private mutating func addExtensions() {
        for (source, skim) in sources.enumerated() {
            for (number, type) in skim.types.enumerated() where type.kind == .extension {
                var node = resolve(type.path, in: source, scope: type.scope)
                // An extension of an alias extends the aliased type.
                if let alias = node, nodes[alias].kind == .alias { node = nil }
                if node == nil {
                    let name = type.path.joined(separator: ".")
                    let scope = Scope(source: -2, number: 0)
                    node = names[scope]?[name] ?? add(Node(name: name, kind: .extension), in: scope)
                }
                nodeOfDeclaration[source][number] = node
                if let node { bodies[node].append(Scope(source: source, number: type.bodyScope)) }
            }
        }
    }

    private mutating func addParents() {
        for (source, skim) in sources.enumerated() {
            for (number, type) in skim.types.enumerated() {
                guard let node = nodeOfDeclaration[source][number] else { continue }
                for path in type.inherited {
                    if let parent = resolve(path, in: source, scope: type.scope), parent != node {
                        nodes[node].parents.append(parent)
                    } else if let name = path.last {
                        nodes[node].unknownParents.append(name)
                    }
                }
            }
        }
    }

    private mutating func addMembers() {
        for (source, skim) in sources.enumerated() {
            for function in skim.functions {
                let owner = function.owner
                guard let node = nodeOfDeclaration[source][owner] else { continue }
                var function = function
                let type = skim.types[owner]
                function.isPrivate = function.isPrivate || (type.kind == .extension && type.isPrivate)
                nodes[node].members.append(
                    Member(
                        source: source, function: function, isInConstrainedExtension: type.isConstrained,
                        isRequirement: type.kind == .protocol))
            }
        }
    }

    private mutating func add(_ node: Node, in scope: Scope) -> Int {
        nodes.append(node)
        bodies.append([])
        names[scope, default: [:]][node.name] = nodes.count - 1
        return nodes.count - 1
    }

    /// Returns the type of a name as seen from a scope: searched outward for the first part, and then inward for
    /// further parts.
    private func resolve(_ path: [String], in source: Int, scope: Int) -> Int? {
        guard let first = path.first else { return nil }
        var number = scope
        // No real source nests deeper. The bound limits the time for any source.
        for _ in 0..<256 {
            let inFile = names[Scope(source: source, number: number)]?[first]
            if let node = inFile ?? (number == 0 ? names[Scope(source: -1, number: 0)]?[first] : nil) {
                return resolve(path.dropFirst(), inside: node)
            }
            if number == 0 { break }
            number = sources[source].scopes[number]
        }
        // The first part may be the name of a module.
        guard path.count > 1 else { return nil }
        let top = names[Scope(source: source, number: 0)]?[path[1]] ?? names[Scope(source: -1, number: 0)]?[path[1]]
        return top.flatMap { DelegateTable.byName[path[1]] == nil ? resolve(path.dropFirst(2), inside: $0) : nil }
    }

    private func resolve(_ path: ArraySlice<String>, inside node: Int) -> Int? {
        var node = node
        for name in path {
            guard let next = bodies[node].lazy.compactMap({ names[$0]?[name] }).first else { return nil }
            node = next
        }
        return node
    }
}
