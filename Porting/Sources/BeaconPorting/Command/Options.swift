internal import DelegateCheck
internal import Foundation

/// The options of the command.
struct Options {
    /// The destination of changes.
    enum Destination: Equatable {
        case patch(String)
        case copies(String)
        case inPlace
    }

    /// A Boolean value that indicates whether to print one JSON object per line.
    private(set) var isJSON = false

    /// The modules to read.
    private(set) var modules: [Module] = []

    /// The destination of changes.
    private(set) var destination = Destination.patch("port.patch")

    /// A Boolean value that indicates whether the compiler checks the result.
    private(set) var checks = false

    /// The compiler for the check, and flags in place of those that find the modules of Linux.
    private(set) var compiler = "swiftc"
    private(set) var flags: [String] = []

    /// The directory that paths in the report and in the patch are relative to.
    private(set) var base = FileManager.default.currentDirectoryPath

    /// The package to read, if it is one, and those that it depends on.
    private(set) var package: SwiftPackage?
    private(set) var dependencies: [SwiftPackage] = []

    /// Parses the arguments after the verb. Paths that are no package form one module.
    init(_ verb: String, _ arguments: [String]) throws {
        guard verb == "check" || verb == "port" else { throw OptionsError("unknown command '\(verb)'; see --help") }
        var given = Module()
        var (paths, targets, destinations) = ([String](), [String](), 0)
        var rest = arguments[...]
        func value(_ option: String) throws -> String {
            guard let value = rest.popFirst() else { throw OptionsError("\(option) needs a value") }
            return value
        }
        while let argument = rest.popFirst() {
            switch (argument, verb) {
            case ("--json", "check"): isJSON = true
            case ("--target", _): targets.append(try value(argument))
            case ("--check", "port"): checks = true
            case ("--compiler", "port"): compiler = try value(argument)
            case ("--flag", "port"): flags.append(try value(argument))
            case ("--dependency", "port"): given.dependencies.insert(try value(argument))
            case ("--patch", "port"): destination = .patch(try value(argument))
            case ("--output", "port"): destination = .copies(try value(argument))
            case ("--in-place", "port"): destination = .inPlace
            case _ where argument.hasPrefix("-"): throw OptionsError("unknown option '\(argument)'; see --help")
            default: paths.append(argument)
            }
            if ["--patch", "--output", "--in-place"].contains(argument) { destinations += 1 }
        }
        guard destinations < 2 else { throw OptionsError("give one of --patch, --output and --in-place") }
        if paths.isEmpty { paths = ["."] }
        if let folder = paths.first(where: { FileManager.default.fileExists(atPath: $0 + "/Package.swift") }) {
            guard paths.count == 1 else { throw OptionsError("'\(folder)' is a package; give no other path with it") }
            let package = try SwiftPackage.described(at: folder)
            dependencies = verb == "port" ? try package.dependencies() : []
            modules = try package.modules(of: targets, with: dependencies)
            for index in modules.indices { modules[index].dependencies.formUnion(given.dependencies) }
            (self.package, base) = (package, package.path)
            return
        }
        guard targets.isEmpty else { throw OptionsError("--target needs the directory of a package") }
        for path in paths {
            given.sources += try Module.sources(at: path)
            // A folder usually has the name of its module.
            let name = URL(filePath: path).standardizedFileURL.deletingPathExtension().lastPathComponent
            let isName = name.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" }
            if given.name.isEmpty, isName { given.name = name }
        }
        modules = [given]
    }

    /// Returns the check by the compiler, if it is wanted, after it has built the modules that the sources import.
    func typeCheck(of files: [PortedFile]) throws -> TypeCheck? {
        guard checks else { return nil }
        var flags = flags
        if flags.isEmpty, let package {
            flags = try package.build(with: dependencies)
        } else if flags.isEmpty {
            let package = try SwiftPackage.forSources { module in
                files.contains { $0.ported.contains(Array("import \(module)".utf8)) }
            }
            flags = try package.build(with: package.dependencies()) + ["-module-alias", "Combine=BeaconCombine"]
        }
        let folder = FileManager.default.temporaryDirectory.appending(path: "port-" + UUID().uuidString)
        return TypeCheck(compiler: compiler, flags: flags, folder: folder)
    }

    /// Returns a path in the form for a patch.
    func relative(_ path: String) -> String {
        let path = URL(filePath: path).standardizedFileURL.path(percentEncoded: false)
        var base = URL(filePath: base).standardizedFileURL.path(percentEncoded: false)
        if !base.hasSuffix("/") { base += "/" }
        return path.hasPrefix(base) ? String(path.dropFirst(base.count)) : path
    }
}

/// The files of a module.
struct Module {
    /// The name, which its own files may import; empty if it is unknown.
    var name = ""

    /// The modules that it may import.
    var dependencies: Set<String> = []

    /// The files to check or to port.
    var sources: [String] = []

    /// The files of imported modules.
    var context: [String] = []

    /// Returns the contents of the files.
    func texts() throws -> [SourceText] {
        try (sources + context).enumerated().map { index, path in
            guard let data = FileManager.default.contents(atPath: path) else {
                throw OptionsError("cannot read '\(path)'")
            }
            return SourceText(path: path, utf8: Array(data), isContext: index >= sources.count)
        }
    }

    /// Returns the path of a file, or of the Swift files in a directory.
    static func sources(at path: String) throws -> [String] {
        var isDirectory: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) else {
            throw OptionsError("cannot read '\(path)'")
        }
        guard isDirectory.boolValue else { return [path] }
        let files = FileManager.default.enumerator(atPath: path)?.compactMap { $0 as? String } ?? []
        return files.filter { $0.hasSuffix(".swift") && !$0.split(separator: "/").contains { $0.hasPrefix(".") } }
            .sorted().map { path.hasSuffix("/") ? path + $0 : path + "/" + $0 }
    }
}

/// A mistake in the options.
struct OptionsError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
