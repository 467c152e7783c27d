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
        let checks = extractor.extractFlag(named: "check") > 0
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
        // A module comes after those that it imports.
        let modules = targets.compactMap { $0 as? SwiftSourceModuleTarget }
            .sorted { $0.recursiveTargetDependencies.count < $1.recursiveTargetDependencies.count }

        // Without an option, only the plugin's own directory is written to, which needs no permission.
        let patch = context.pluginWorkDirectoryURL.appending(path: "port.patch").path(percentEncoded: false)
        var destination = isInPlace ? ["--in-place"] : output.flatMap { ["--output", $0] }
        if destination.isEmpty { destination = ["--patch", patch] }

        // A command line may be too short for all files, so write them to a list.
        let list = context.pluginWorkDirectoryURL.appending(path: "files.txt")
        try Self.list(of: modules, in: context.package).write(to: list, atomically: true, encoding: .utf8)
        let process = Process()
        process.executableURL = try context.tool(named: "BeaconPortingCommand").url
        // Paths belong to no target, so what any target depends on may be imported.
        let given = Set(context.package.targets.flatMap { Self.modules(for: $0) }).sorted()
        process.arguments =
            ["port", "--base", context.package.directoryURL.path(percentEncoded: false)] + destination
            + ["--list", list.path(percentEncoded: false)] + given.flatMap { ["--dependency", $0] }
            + (checks ? try compilation(context, of: context.package.targets) : []) + paths
        try process.run()
        process.waitUntilExit()
        // The report is the message; only pass on the status.
        if process.terminationReason != .exit || process.terminationStatus != 0 { exit(1) }
    }

    /// The files of each module, of its dependencies in the same package, and the modules that it may import.
    private static func list(of modules: [SwiftSourceModuleTarget], in package: Package) -> String {
        let own = Set(package.targets.map(\.id))
        var lines = ""
        for module in modules {
            lines += "module \(module.moduleName)\n"
            for name in Self.modules(for: module) { lines += "dependency \(name)\n" }
            for path in sources(of: module) { lines += "source \(path)\n" }
            for target in module.recursiveTargetDependencies where own.contains(target.id) {
                guard let dependency = target as? SwiftSourceModuleTarget else { continue }
                for path in sources(of: dependency) { lines += "context \(path)\n" }
            }
        }
        return lines
    }

    /// The modules that a target may import.
    private static func modules(for target: any Target) -> [String] {
        target.recursiveTargetDependencies.compactMap { ($0 as? any SourceModuleTarget)?.moduleName }
    }

    /// Builds the modules of other packages, and returns the options for the compiler.
    private func compilation(_ context: PluginContext, of targets: [any Target]) throws -> [String] {
        // The modules of this package are checked in their ported form.
        var names: Set<String> = []
        for case .product(let product) in targets.flatMap(\.dependencies) {
            names.formUnion(product.targets.filter { $0 is SwiftSourceModuleTarget }.map(\.name))
        }
        for name in names.sorted() {
            let result = try packageManager.build(.target(name), parameters: .init(configuration: .debug))
            guard result.succeeded else {
                throw PortFailure("cannot build '\(name)' for the check:\n\(result.logText)")
            }
        }
        let tool = try context.tool(named: "BeaconPortingCommand").url
        let build = tool.deletingLastPathComponent()
        var flags = ["-I", build.appending(path: "Modules").path(percentEncoded: false)]
        flags += ["-swift-version", context.package.toolsVersion.major < 6 ? "5" : "6"]
        for map in Self.moduleMaps(of: context.package, in: build) { flags += ["-Xcc", "-fmodule-map-file=" + map] }
        let compiler = try context.tool(named: "swiftc").url.path(percentEncoded: false)
        return ["--check", "--compiler", compiler] + flags.flatMap { ["--flag", $0] }
    }

    /// The descriptions of C modules in a package and in all packages that it depends on.
    private static func moduleMaps(of package: Package, in build: URL) -> Set<String> {
        var folders: [URL] = []
        for target in package.targets {
            folders.append(build.appending(path: "\(target.name).build"))
            if let module = target as? ClangSourceModuleTarget, let headers = module.publicHeadersDirectoryURL {
                folders.append(headers)
            }
            if target is SystemLibraryTarget { folders.append(target.directoryURL) }
        }
        let maps = folders.map { $0.appending(path: "module.modulemap").path(percentEncoded: false) }
        let here = Set(maps.filter(FileManager.default.fileExists))
        return package.dependencies.reduce(here) { $0.union(moduleMaps(of: $1.package, in: build)) }
    }

    private static func sources(of module: SwiftSourceModuleTarget) -> [String] {
        module.sourceFiles(withSuffix: ".swift").map { $0.url.path(percentEncoded: false) }.sorted()
    }

    private static let help = """
        USAGE: swift package port-beacon-code [--target T]... [--output DIR | --in-place] [--check] [PATH]...

        Writes a patch that makes iOS beacon code compile for Linux. It lists the changes, and the places that are
        left for you to decide. No source is changed unless you ask for it.

          --target T    Port this target. Without it all targets of the package are ported.
          --output DIR  Write patched copies of the files that change, and no patch.
          --in-place    Change the files.
          --check       Build the modules that your code imports, type-check the result, and list each error.
          PATH          Port this file, or the Swift files in this directory, instead of targets.

        On macOS, SwiftPM lets a plugin write where you allow it:
        swift package --allow-writing-to-package-directory port-beacon-code --in-place
        """
}
