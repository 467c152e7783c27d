internal import DelegateCheck
internal import SwiftSyntax

/// A rule that adds a superclass on Linux for beacon code in a view controller or an app delegate.
struct StandInRule: PortRule {
    func findings(in file: PortFile) -> RuleFindings {
        var findings = RuleFindings()
        let missing = file.module.standIns.filter {
            $0.value.file == file.index && !file.module.replacements.contains($0.key)
        }.map { (name: $0.key, framework: $0.value.framework) }.sorted { $0.name < $1.name }
        for type in file.nodes(ClassDeclSyntax.self) where !type.name.text.isEmpty {
            let parents = type.inheritanceClause?.inheritedTypes.compactMap { $0.type.path?.last } ?? []
            guard let parent = parents.first(where: { file.module.standIns[$0] != nil && Self.texts[$0] != nil }) else {
                continue
            }
            // The main function calls these.
            if parents.contains("UIApplicationDelegate"), type.isMain { continue }
            findings.decide(
                at: type.trimmedOffsets.lowerBound,
                "'\(type.name.text)' has an empty '\(parent)' on Linux, and nothing calls its methods",
                "call them yourself, or move the beacon code into a class without UIKit")
        }
        var blocks = Dictionary(grouping: missing, by: \.framework).map { framework, names in
            (framework, lines: names.flatMap { Self.lines(of: $0.name, words: file.module.words) })
        }.sorted { $0.0.name < $1.0.name }
        var summaries = missing.isEmpty ? [] : ["a simple " + missing.map { "'\($0.name)'" }.joined(separator: ", ")]
        if let framework = AppleModule("UIKit") {
            for name in Self.mains(in: file) {
                let lines = Self.mainFunction(of: name, file.module.methods[name]?["application"] ?? [])
                if let index = blocks.firstIndex(where: { $0.0 == framework }) {
                    blocks[index].lines += lines
                } else {
                    blocks.append((framework, lines))
                }
                summaries.append("a main function of '\(name)' that calls the launch callbacks only")
            }
        }
        if !blocks.isEmpty {
            findings.change(
                [Self.edit(blocks, in: file)], at: file.source.utf8.count,
                "added \(summaries.joined(separator: ", and ")) for Linux")
        }
        return findings
    }

    /// Returns the names of the app delegates that UIKit starts elsewhere and that have no main function yet.
    private static func mains(in file: PortFile) -> [String] {
        guard file.module.standIns["UIApplicationDelegate"] != nil,
            !file.nodes(FunctionDeclSyntax.self).contains(where: { $0.name.text == "main" })
        else { return [] }
        return file.nodes(ClassDeclSyntax.self).filter { type in
            let parents = type.inheritanceClause?.inheritedTypes.compactMap { $0.type.path?.last } ?? []
            return type.isMain && parents.contains("UIApplicationDelegate")
        }.map(\.name.text)
    }

    private static func mainFunction(of name: String, _ callbacks: [[String]]) -> [String] {
        var lines = ["extension \(name) {", "    static func main() {", "        let delegate = \(name)()"]
        for label in ["willFinishLaunchingWithOptions", "didFinishLaunchingWithOptions"]
        where callbacks.contains(["_", label]) {
            lines.append("        _ = delegate.application(.shared, \(label): nil)")
        }
        return lines + ["        withExtendedLifetime(delegate) { RunLoop.main.run() }", "    }", "}"]
    }

    /// Returns the edit that appends lines for systems without a framework.
    private static func edit(_ blocks: [(AppleModule, lines: [String])], in file: PortFile) -> Edit {
        let end = file.source.utf8.count
        let startsLine = file.source.utf8.last == UInt8(ascii: "\n")
        let lines = blocks.flatMap { ["#if !\($0.condition)"] + $1 + ["#endif"] }
        let text = (startsLine ? "" : file.newline) + lines.joined(separator: file.newline) + file.newline
        return Edit(range: end..<end, text: text)
    }

    /// Returns the lines of an empty form. It has only what the beacon code mentions, and is short.
    private static func lines(of name: String, words: Set<String>) -> [String] {
        guard let (head, members) = texts[name] else { return ["protocol \(name): AnyObject {}"] }
        var lines = [head + " {"]
        for member in members where member.words.isEmpty || !words.isDisjoint(with: member.words) {
            let isFirst = lines.count == 1 || lines[lines.count - 1].count + member.text.count > 115
            if isFirst { lines.append("    " + member.text) } else { lines[lines.count - 1] += "; " + member.text }
        }
        if lines.count == 1 { return [head + " {}"] }
        guard lines.count == 2, head.count + lines[1].count < 115 else { return lines + ["}"] }
        return [head + " { " + lines[1].dropFirst(4) + " }"]
    }

    /// Members of a view controller that its stand-in lacks.
    static let controllerMembers = [
        "view", "navigationController", "navigationItem", "tabBarController", "present", "dismiss", "performSegue",
        "storyboard", "setNeedsStatusBarAppearanceUpdate",
    ]

    /// The empty forms by name: the first line, and members with the words that need them.
    static let texts: [String: (head: String, members: [(words: Set<String>, text: String)])] = {
        var texts: [String: (head: String, members: [(words: Set<String>, text: String)])] = [:]
        var name = ""
        for line in String(decoding: PackageResources.EmptyForms_txt, as: UTF8.self).split(separator: "\n") {
            let words = line.prefix { $0 != ":" }.split(separator: " ").map(String.init)
            if line.hasPrefix(" ") {
                texts[name]?.members.append((Set(words), String(line.drop { $0 != ":" }.dropFirst(2))))
            } else {
                name = words.last ?? ""
                texts[name] = (String(line), [])
            }
        }
        return texts
    }()

    /// The words that decide about members.
    static let memberWords = Set(texts.values.flatMap(\.members).flatMap(\.words))

    /// The members of `UIApplication` that its stand-in has.
    static let applicationMembers: Set<String> = [
        "shared", "applicationState", "isIdleTimerDisabled", "State", "LaunchOptionsKey", "self",
    ]
}

extension ClassDeclSyntax {
    /// A Boolean value that indicates whether the program starts with it.
    fileprivate var isMain: Bool {
        attributes.contains { attribute in
            let name = attribute.as(AttributeSyntax.self)?.attributeName.as(IdentifierTypeSyntax.self)?.name.text
            return name == "main" || name == "UIApplicationMain"
        }
    }
}
