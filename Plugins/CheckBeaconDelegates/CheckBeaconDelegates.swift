import Foundation
import PackagePlugin

/// `swift package check-beacon-delegates [--target T]... [--json]`: finds code that compiles for Linux but fails
/// silently.
@main
struct CheckBeaconDelegates: CommandPlugin {
    func performCommand(context: PluginContext, arguments: [String]) async throws {
        var extractor = ArgumentExtractor(arguments)
        let names = extractor.extractOption(named: "target")
        let isJSON = extractor.extractFlag(named: "json") > 0
        if extractor.extractFlag(named: "help") > 0 {
            print("Usage: swift package check-beacon-delegates [--target T]... [--json]")
            return
        }
        if let unknown = extractor.remainingArguments.first {
            throw CheckFailure("unknown argument '\(unknown)'; usage: [--target T]... [--json]")
        }
        let targets =
            try names.isEmpty ? context.package.targets : context.package.targets(named: names)
        let modules = targets.compactMap { $0 as? SwiftSourceModuleTarget }

        // A command line may be too short for all files, so write them to a list.
        let list = context.pluginWorkDirectoryURL.appending(path: "files.txt")
        try Self.list(of: modules, in: context.package).write(to: list, atomically: true, encoding: .utf8)
        let process = Process()
        process.executableURL = try context.tool(named: "BeaconPortingCommand").url
        process.arguments = ["check", "--list", list.path(percentEncoded: false)] + (isJSON ? ["--json"] : [])
        try process.run()
        process.waitUntilExit()
        // The findings are the message; only pass on the status.
        if process.terminationReason != .exit || process.terminationStatus != 0 { exit(1) }
    }

    /// The files of each module, and of its dependencies in the same package.
    private static func list(of modules: [SwiftSourceModuleTarget], in package: Package) -> String {
        let own = Set(package.targets.map(\.id))
        var lines = ""
        for module in modules {
            lines += "module\n"
            for path in sources(of: module) { lines += "source \(path)\n" }
            for target in module.recursiveTargetDependencies where own.contains(target.id) {
                guard let dependency = target as? SwiftSourceModuleTarget else { continue }
                for path in sources(of: dependency) { lines += "context \(path)\n" }
            }
        }
        return lines
    }

    private static func sources(of module: SwiftSourceModuleTarget) -> [String] {
        module.sourceFiles(withSuffix: ".swift").map { $0.url.path(percentEncoded: false) }.sorted()
    }
}
