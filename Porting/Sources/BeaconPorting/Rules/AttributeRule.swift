internal import DelegateCheck
internal import SwiftSyntax

/// A rule that removes attributes of the Objective-C runtime.
struct AttributeRule: PortRule {
    func findings(in file: PortFile) -> RuleFindings {
        var findings = RuleFindings()
        for attribute in file.nodes(AttributeSyntax.self) {
            guard let token = attribute.attributeName.as(IdentifierTypeSyntax.self)?.name else { continue }
            let name = file.foreign(token)
            let offset = attribute.trimmedOffsets.lowerBound
            if name == "UIApplicationMain", file.module.declared.contains("UIApplicationDelegate") {
                findings.change(
                    [Edit(range: attribute.trimmedOffsets, text: "@main")], at: offset,
                    "wrote '@main' in place of '@UIApplicationMain'")
            } else if let remedy = Self.remedies[name] {
                findings.decide(at: offset, "'@\(name)' does not exist on Linux", remedy)
            } else if Self.removed.contains(name) {
                var edits = [Edit(range: Self.range(of: attribute, in: file), text: "")]
                edits += Self.classBound(attribute, in: file)
                findings.change(edits, at: offset, "removed '\(file.text(attribute).prefix(60))'")
            }
        }
        return findings
    }

    /// The compiler for Linux accepts the other attributes of Interface Builder.
    static let removed: Set<String> = ["objc", "objcMembers", "IBOutlet", "IBSegueAction"]

    static let remedies = [
        "NSManaged": "store the property yourself; Core Data does not exist on Linux",
        "UIApplicationMain": "start the app in a file main.swift, and end it with RunLoop.main.run()",
        "NSApplicationMain": "start the app in a file main.swift, and end it with RunLoop.main.run()",
    ]

    /// Returns the bytes to remove: a whole line, or up to the next code on the same line.
    private static func range(of attribute: AttributeSyntax, in file: PortFile) -> Range<Int> {
        let range = attribute.trimmedOffsets
        let utf8 = file.source.utf8
        var end = range.upperBound
        while end < utf8.count, utf8[end] == UInt8(ascii: " ") || utf8[end] == UInt8(ascii: "\t") { end += 1 }
        let endsLine = end == utf8.count || utf8[end] == UInt8(ascii: "\n") || utf8[end] == UInt8(ascii: "\r")
        guard endsLine else { return range.lowerBound..<end }
        let start = file.lineStart(range.lowerBound)
        guard file.source.text(start..<range.lowerBound).allSatisfy(\.isWhitespace) else {
            return range.lowerBound..<end
        }
        var next = file.lineEnd(end)
        if next < utf8.count, utf8[next] == UInt8(ascii: "\r") { next += 1 }
        return start..<min(utf8.count, next + 1)
    }

    /// Returns the edit that restricts a protocol to classes, like every Objective-C protocol.
    private static func classBound(_ attribute: AttributeSyntax, in file: PortFile) -> [Edit] {
        guard file.text(attribute.attributeName) == "objc", let list = attribute.parent?.as(AttributeListSyntax.self),
            let declaration = list.parent?.as(ProtocolDeclSyntax.self)
        else { return [] }
        guard let clause = declaration.inheritanceClause else {
            let end = declaration.name.trimmedOffsets.upperBound
            return [Edit(range: end..<end, text: ": AnyObject")]
        }
        let parents = clause.inheritedTypes.map { file.text($0.type) }
        guard Set(["AnyObject", "class", "NSObjectProtocol"]).isDisjoint(with: parents),
            let first = clause.inheritedTypes.first?.trimmedOffsets.lowerBound
        else { return [] }
        return [Edit(range: first..<first, text: "AnyObject, ")]
    }
}
