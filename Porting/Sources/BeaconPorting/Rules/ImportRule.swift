internal import DelegateCheck
internal import SwiftSyntax

/// A rule that imports Apple's frameworks only on systems that have them, and reports modules that may be missing.
struct ImportRule: PortRule {
    func findings(in file: PortFile) -> RuleFindings {
        var findings = RuleFindings()
        let imports = file.nodes(ImportDeclSyntax.self)
        let modules = Set(imports.compactMap { Self.module($0) })
        let words = Set(file.live.compactMap { UnavailableNames.token(of: $0)?.bareText })
            .subtracting(file.module.declared)
        // Frameworks on adjacent lines share a condition: where the file compiles, all of them exist.
        var group: [(declaration: ImportDeclSyntax, framework: AppleModule)] = []
        func finish() {
            defer { group = [] }
            guard let first = group.first, let last = group.last else { return }
            let others = Self.others(of: group.map(\.framework.name), imported: modules, words: words)
            let other = others.isEmpty ? "" : ", and '\(others.joined(separator: "', '"))' elsewhere"
            let range = first.declaration.trimmedOffsets.lowerBound..<last.declaration.trimmedOffsets.upperBound
            findings.change(
                file.wrap(range, where: first.framework, else: others), at: range.lowerBound,
                "imported '\(group.map(\.framework.name).joined(separator: "', '"))' only where "
                    + (group.count > 1 ? "they exist" : "it exists") + other)
        }
        for declaration in imports {
            guard let module = Self.module(declaration), !Self.isTested(module, around: declaration, in: file) else {
                continue
            }
            let offset = declaration.trimmedOffsets.lowerBound
            if module == "Combine" || file.module.modules.contains(module) || LinuxModules.others.contains(module)
                || LinuxModules.shared.contains(module)
            {
                continue
            }
            guard let framework = AppleModule(module) else {
                findings.decide(
                    at: offset, "'\(module)' is a package or a module that the target does not depend on",
                    "depend on it if it builds for Linux, else do without it there")
                continue
            }
            guard file.hasOwnLines(declaration) else {
                findings.decide(at: offset, "'\(module)' does not exist on Linux", "give the import its own line")
                continue
            }
            if let last = group.last?.declaration.trimmedOffsets.upperBound,
                file.source.text(last..<max(last, offset)) != file.newline + file.indentation(offset)
            {
                finish()
            }
            group.append((declaration, framework))
        }
        finish()
        if !modules.contains("FoundationNetworking"),
            !words.isDisjoint(with: FrameworkNames.names(of: "FoundationNetworking"))
        {
            add(
                ["#if canImport(FoundationNetworking)", "import FoundationNetworking", "#endif"],
                "imported 'FoundationNetworking', which contains URLSession on Linux", imports, file, &findings)
        } else if modules.isDisjoint(with: ["Combine", "OpenCombine"]),
            !words.isDisjoint(with: FrameworkNames.names(of: "Combine"))
        {
            add(["import Combine"], "imported 'Combine', which other modules import on iOS", imports, file, &findings)
        }
        return findings
    }

    /// Returns the module that an import names.
    private static func module(_ declaration: ImportDeclSyntax) -> String? {
        declaration.path.first?.name.bareText
    }

    /// Returns whether a condition around an import tests for its module.
    private static func isTested(_ module: String, around node: some SyntaxProtocol, in file: PortFile) -> Bool {
        var node = node.parent
        while let current = node {
            if let condition = current.as(IfConfigClauseSyntax.self)?.condition,
                file.text(condition).contains("canImport(\(module))")
            {
                return true
            }
            node = current.parent
        }
        return false
    }

    /// Returns the imports that replace missing modules' transitive imports.
    private static func others(of modules: [String], imported: Set<String>, words: Set<String>) -> [String] {
        if modules.contains("MapKit"), !imported.contains("CoreLocation"), words.contains(where: { $0.hasPrefix("CL") })
        {
            return ["import CoreLocation"]
        }
        // These bring Foundation, and Foundation brings the C library.
        let isThere = !imported.isDisjoint(with: ["Foundation", "CoreLocation", "CoreBluetooth", "KumulosSDK"])
        if isThere { return [] }
        if modules.contains(where: { !Self.plain.contains($0) }) { return ["import Foundation"] }
        return modules.contains("Darwin") ? ["import Glibc"] : []
    }

    /// Adds an import after the last one.
    private func add(
        _ lines: [String], _ summary: String, _ imports: [ImportDeclSyntax], _ file: PortFile,
        _ findings: inout RuleFindings
    ) {
        let text = lines.joined(separator: file.newline)
        let last = imports.last { Self.isAtTop($0) && file.hasOwnLines($0) }
        if let last {
            let end = file.lineEnd(last.trimmedOffsets.upperBound)
            findings.change([Edit(range: end..<end, text: file.newline + text)], at: end, summary)
        } else if let first = file.source.tree.statements.first {
            let start = first.trimmedOffsets.lowerBound
            findings.change([Edit(range: start..<start, text: text + file.newline)], at: start, summary)
        }
    }

    private static func isAtTop(_ declaration: ImportDeclSyntax) -> Bool {
        declaration.parent?.parent?.parent?.is(SourceFileSyntax.self) ?? false
    }

    /// Modules that do not import Foundation.
    private static let plain: Set<String> = ["Darwin", "MachO", "ObjectiveC", "os", "simd"]
}
