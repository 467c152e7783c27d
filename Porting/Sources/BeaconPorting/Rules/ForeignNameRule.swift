internal import DelegateCheck
internal import SwiftSyntax

/// A rule that reports the names of frameworks that do not exist on Linux.
struct ForeignNameRule: PortRule {
    func findings(in file: PortFile) -> RuleFindings {
        var findings = RuleFindings()
        let imported = Set(file.nodes(ImportDeclSyntax.self).compactMap { $0.path.first?.name.bareText })
        let names = UnavailableNames(file)
        let uses = Dictionary(grouping: file.live.compactMap(names.use), by: \.name)
        for (name, uses) in uses {
            guard let first = uses.min(by: { $0.offset < $1.offset }),
                !["Combine", "CoreFoundation"].contains(first.framework) || !imported.contains(first.framework ?? "")
            else { continue }
            let lines = Set(uses.map { file.source.place(of: $0.offset).line }).count
            let more = lines > 1 ? " (on \(lines) lines)" : ""
            guard let framework = first.framework else {
                findings.decide(
                    at: first.offset, "'\(name)' is declared only in a condition that excludes Linux\(more)",
                    "declare it for Linux too, or put this into the same condition")
                continue
            }
            let remedy = Self.remedies[framework] ?? "put it in #if canImport(\(framework)), or leave the file out"
            findings.decide(
                at: first.offset,
                first.isHidden
                    ? "'\(name)' is declared only where \(framework) exists\(more)"
                    : "'\(name)' of \(framework) does not exist on Linux\(more)",
                first.isHidden ? "put this in #if canImport(\(framework)), with a branch for Linux" : remedy)
        }
        return findings
    }

    /// Returns the framework of a name, if the framework does not exist on Linux.
    ///
    /// - Parameter imported: the modules that the file imports on any system. They are needed because apps also use
    ///   short prefixes.
    static func framework(of name: String, imported: Set<String>) -> String? {
        // Other packages also use names such as View, State and Text.
        if let framework = FrameworkNames.frameworks[name], framework != "SwiftUI" || imported.contains(framework) {
            return framework
        }
        let missing = imported.filter { AppleModule($0) != nil && $0 != "Combine" }
        let isKnown = imported.subtracting(missing).isSubset(of: LinuxNames.modules)
        // The Logger of swift-log exists on Linux, and packages have their own.
        if name == "Logger", isKnown || !missing.isDisjoint(with: ["os", "OSLog"]) { return "os" }
        if LinuxNames.types.contains(name) { return nil }
        for (prefix, framework, needsImport) in FrameworkNames.prefixes where name.hasPrefix(prefix) {
            // `UIView`, but neither `UInt` nor `UIDS`.
            let rest = name.dropFirst(prefix.count).prefix(2)
            let isName = rest.first?.isUppercase ?? false && rest.last?.isLowercase ?? false
            if needsImport ? imported.contains(framework) : isName { return framework }
        }
        if let framework = missing.first(where: { name.hasPrefix($0.lowercased() + "_") }) { return framework }
        // Any other type that Linux lacks is from a framework that the file imports, if it imports only known modules.
        guard isKnown, LinuxNames.isMissing(name) else { return nil }
        return missing.subtracting(["UIKit", "SwiftUI", "AppKit", "Cocoa", "IOKit"]).min() ?? missing.max()
    }

    private static let remedies = [
        "Combine": "depend on the product Combine of swift-beacon, and import Combine",
        "CoreFoundation": "import CoreFoundation, and use no Foundation type in its place",
        "CoreData": "store it another way, for instance with GRDB",
        "UserNotifications": "put it in #if canImport(UserNotifications), or notify through swift-beacon",
        "os": "give it its own line, or use print or the Logger of swift-log",
        "Security": "store it another way, for instance in a file",
    ]
}
