/// A matcher of functions with the delegate methods that they implement or were meant to implement.
struct MethodMatcher {
    /// The names of types that the sources declare.
    let typeNames: Set<String>

    /// Matches a function with a delegate's methods.
    func match(_ function: FunctionSignature, with delegate: DelegateProtocol) -> MethodMatch {
        guard let manager = managerParameter(of: function, for: delegate) else { return .none }
        var best: (method: DelegateMethod, cost: Int, isPlain: Bool)?
        for method in delegate.methods {
            guard let likeness = likeness(of: function, to: method) else { continue }
            if let best, likeness.cost >= best.cost { continue }
            best = (method, likeness.cost, likeness.isPlain)
        }
        guard let best else { return .none }
        let method = best.method
        guard function.baseName == method.function.baseName, function.labels == method.function.labels else {
            let name = "the method's name is '\(method.function.fullName)'"
            return .near(method, differences: [name], isPlain: best.isPlain)
        }
        guard let differences = differences(of: function, from: method, manager: manager) else { return .none }
        return differences.isEmpty ? .exact(method) : .near(method, differences: differences, isPlain: true)
    }

    // MARK: Types and effects

    /// Returns the parameter for the manager, if the function has one. A function with another type of manager belongs
    /// to another protocol.
    private func managerParameter(
        of function: FunctionSignature, for delegate: DelegateProtocol
    ) -> FunctionSignature.Parameter? {
        guard let first = function.parameters.first, var type = first.type?.canonical else { return nil }
        while type.hasSuffix("?") || type.hasSuffix("!") { type.removeLast() }
        let isGeneral = ["Any", "AnyObject", "NSObject"].contains(type)
        return type == delegate.manager || isGeneral ? first : nil
    }

    /// Returns the differences between a function of the right name and the method; nil if they are unknown.
    private func differences(
        of function: FunctionSignature, from method: DelegateMethod, manager: FunctionSignature.Parameter
    ) -> [String]? {
        var differences = Set(function.oddities).sorted().map { "it is '\($0)'" }
        var isOpen = false
        func isType(_ name: String) -> Bool { Self.isKnownType(name) || typeNames.contains(name) }
        for (parameter, wanted) in zip(function.parameters, method.function.parameters) {
            guard let type = parameter.type, let wantedType = wanted.type else { return nil }
            switch type.isEqual(to: wantedType, isType: isType) {
            case true?: break
            case false?: differences.append("'\(parameter.name)' is '\(type.text)' and not '\(wantedType.text)'")
            case nil: isOpen = true
            }
        }
        guard let result = function.result, let wantedResult = method.function.result else { return nil }
        switch result.isEqual(to: wantedResult, isType: isType) {
        case true?: break
        case false?: differences.append("it returns '\(result.text)' and not '\(wantedResult.text)'")
        case nil: isOpen = true
        }
        return differences.isEmpty && isOpen ? nil : differences
    }

    /// Returns whether a name certainly belongs to a type, rather than to an alias.
    private static func isKnownType(_ name: String) -> Bool {
        ["CL", "CB", "NS", "UI"].contains { name.hasPrefix($0) } || standardTypes.contains(name)
    }

    private static let standardTypes: Set<String> = [
        "Any", "AnyHashable", "AnyObject", "Array", "Bool", "Character", "Data", "Date", "Dictionary", "Double",
        "Error",
        "Float", "Int", "Int32", "Int64", "Never", "Optional", "Set", "String", "UInt", "UInt16", "URL", "UUID",
    ]

    // MARK: Names

    /// Returns the distance between the names; nil if the function is unrelated. The match is plain if each part is the
    /// method's, in Swift or in Objective-C.
    private func likeness(of function: FunctionSignature, to method: DelegateMethod) -> (cost: Int, isPlain: Bool)? {
        let labels = function.labels
        let wanted = method.function.labels
        let hasBase = function.baseName == method.function.baseName || function.baseName == method.selectorBase
        if hasBase, labels.count == wanted.count {
            var cost = 0
            var isPlain = true
            for index in labels.indices {
                let label = labels[index]
                if label == wanted[index] { continue }
                cost += 1
                // Swift 2 had the manager's name in place of today's empty label.
                if index == 0 || label == method.selectorLabels[index] { continue }
                if Self.errorLabels.contains(label), Self.errorLabels.contains(wanted[index]) { continue }
                isPlain = false
            }
            if isPlain { return (cost, true) }
        }
        guard function.baseName.utf8.count <= 80, labels.count <= 8, labels.allSatisfy({ $0.utf8.count <= 80 }) else {
            return nil
        }
        let typed = Self.joined(function.baseName, labels)
        let inSwift = Self.joined(method.function.baseName, wanted)
        let inSelector = Self.joined(method.selectorBase, method.selectorLabels)
        let distance = min(
            EditDistance.between(typed, inSwift, atMost: 2),
            EditDistance.between(typed, inSelector, atMost: 2))
        if distance <= 2 { return (10 + distance, false) }
        return hasBase ? relatedLabels(labels, method) : relatedBase(function, method)
    }

    /// Compares the labels, from the second one on, of methods that share their base name with others.
    private func relatedLabels(_ labels: [String], _ method: DelegateMethod) -> (cost: Int, isPlain: Bool)? {
        let wanted = method.function.labels
        guard labels.count > 1, wanted.count > 1, abs(labels.count - wanted.count) <= 1 else { return nil }
        var position = 1
        // Two methods share `central:`.
        if labels[1] == wanted[1], wanted[1] == "central" { position = 2 }
        guard position < labels.count, position < wanted.count,
            Self.isRelated(labels[position], wanted[position])
                || Self.isRelated(labels[position], method.selectorLabels[position])
        else { return nil }
        var cost = 20
        for index in 1..<max(labels.count, wanted.count) {
            if index >= labels.count || index >= wanted.count {
                cost += 10
                continue
            }
            let label = Array(labels[index].utf8)
            cost += min(
                EditDistance.between(label, Array(wanted[index].utf8), atMost: 40),
                EditDistance.between(label, Array(method.selectorLabels[index].utf8), atMost: 40))
        }
        return (cost, false)
    }

    /// Compares the base names of methods with one parameter, which contain the whole meaning.
    private func relatedBase(_ function: FunctionSignature, _ method: DelegateMethod) -> (cost: Int, isPlain: Bool)? {
        let wanted = method.function.baseName
        guard Self.words(in: wanted) > 3, Self.words(in: function.baseName) > 3,
            function.labels.count == method.function.labels.count, Self.isRelated(function.baseName, wanted)
        else { return nil }
        return (40 + abs(function.baseName.utf8.count - wanted.utf8.count), false)
    }

    /// Returns whether two labels are the same except for a typing error or for additional words at the end.
    private static func isRelated(_ label: String, _ wanted: String) -> Bool {
        if label == wanted { return true }
        let left = Array(label.utf8)
        let right = Array(wanted.utf8)
        if min(left.count, right.count) > 5, EditDistance.between(left, right, atMost: 2) <= 2 { return true }
        let (short, long) = left.count < right.count ? (left, right) : (right, left)
        guard words(in: String(decoding: short, as: UTF8.self)) > 1, short.count < long.count else { return false }
        return long.starts(with: short) && isUppercase(long[short.count])
    }

    private static func words(in name: String) -> Int {
        1 + name.utf8.count(where: isUppercase)
    }

    private static func isUppercase(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
    }

    /// Returns a name with its labels as one word, because the position of the parentheses depends on the importer.
    private static func joined(_ base: String, _ labels: [String]) -> [UInt8] {
        var bytes = Array(base.lowercased().utf8)
        for (index, label) in labels.enumerated() where label != "_" {
            if index == 0, managerLabels.contains(label) { continue }
            bytes += Array(label.lowercased().utf8)
        }
        return bytes
    }

    private static let errorLabels: Set<String> = ["error", "withError"]
    private static let managerLabels: Set<String> = ["manager", "peripheral", "central", "locationManager"]
}

/// The match of a function with the methods of a delegate.
enum MethodMatch {
    /// The function is that method.
    case exact(DelegateMethod)

    /// The function is meant to be that method, and differs by its name or in these ways.
    case near(DelegateMethod, differences: [String], isPlain: Bool)

    /// The function is unrelated to the delegate, or the relation is unknown.
    case none
}

/// The edit distance of two words.
enum EditDistance {
    /// Returns the least number of insertions, deletions, replacements and swaps of neighbors that turn one word into
    /// the other. If it exceeds the limit, the result is one more than the limit.
    static func between(_ left: [UInt8], _ right: [UInt8], atMost limit: Int) -> Int {
        if abs(left.count - right.count) > limit { return limit + 1 }
        var beforeLast: [Int] = []
        var last = Array(0...right.count)
        for row in 0..<left.count {
            var current = [row + 1]
            for column in 0..<right.count {
                let isSame = left[row] == right[column]
                var cost = min(last[column] + (isSame ? 0 : 1), last[column + 1] + 1, current[column] + 1)
                if row > 0, column > 0, left[row] == right[column - 1], left[row - 1] == right[column] {
                    cost = min(cost, beforeLast[column - 1] + 1)
                }
                current.append(cost)
            }
            if (current.min() ?? 0) > limit { return limit + 1 }
            beforeLast = last
            last = current
        }
        return min(last[right.count], limit + 1)
    }
}
