import Foundation
import PackagePlugin

/// `swift package port-beacon-code`: writes a patch that makes iOS beacon code compile for Linux.
@main
struct PortBeaconCode: CommandPlugin {
    func performCommand(context: PluginContext, arguments: [String]) async throws {
        var extractor = ArgumentExtractor(arguments)
        if extractor.extractFlag(named: "help") > 0 {
            print(Self.help)
            return
        }
        let names = extractor.extractOption(named: "target")
        let output = extractor.extractOption(named: "output")
        let isInPlace = extractor.extractFlag(named: "in-place") > 0
        if let unknown = extractor.remainingArguments.first(where: { $0.hasPrefix("-") }) {
            throw PortFailure("unknown option '\(unknown)'\n\(Self.help)")
        }
        let paths = extractor.remainingArguments
        // If there are paths, only these are ported; otherwise the named targets or all targets of the package.
        var targets: [any Target] = []
        if !names.isEmpty {
            targets = try context.package.targets(named: names)
        } else if paths.isEmpty {
            targets = context.package.targets
        }
        let modules = targets.compactMap { $0 as? SwiftSourceModuleTarget }

        // Without an option, only the plugin's own directory is written to, which needs no permission.
        let patch = context.pluginWorkDirectoryURL.appending(path: "port.patch").path(percentEncoded: false)
        var destination = isInPlace ? ["--in-place"] : output.flatMap { ["--output", $0] }
        if destination.isEmpty { destination = ["--patch", patch] }

        // A command line may be too short for all files, so write them to a list.
        let list = context.pluginWorkDirectoryURL.appending(path: "files.txt")
        try Self.list(of: modules, in: context.package).write(to: list, atomically: true, encoding: .utf8)
        let process = Process()
        process.executableURL = try context.tool(named: "BeaconPortingCommand").url
        process.arguments =
            ["port", "--base", context.package.directoryURL.path(percentEncoded: false)] + destination
            + ["--list", list.path(percentEncoded: false)] + paths
        try process.run()
        process.waitUntilExit()
        // The report is the message; only pass on the status.
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

    private static let help = """
        USAGE: swift package port-beacon-code [--target T]... [--output DIR | --in-place] [PATH]...

        Writes a patch that makes iOS beacon code compile for Linux. It lists the changes, and the places that are
        left for you to decide. No source is changed unless you ask for it.

          --target T    Port this target. Without it all targets of the package are ported.
          --output DIR  Write patched copies of the files that change, and no patch.
          --in-place    Change the files.
          PATH          Port this file, or the Swift files in this directory, instead of targets.

        On macOS, SwiftPM lets a plugin write where you allow it:
        swift package --allow-writing-to-package-directory port-beacon-code --in-place
        """
}
