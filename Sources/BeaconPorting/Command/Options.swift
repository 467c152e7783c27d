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

    /// The check by the compiler, if it is wanted.
    private(set) var typeCheck: TypeCheck?

    private var base = FileManager.default.currentDirectoryPath

    /// Parses the arguments after the verb. Their paths form one module. A list names the files of further modules, one
    /// file per line, because a command line may be too short for them.
    init(_ verb: String, _ arguments: [String]) throws {
        guard verb == "check" || verb == "port" else { throw OptionsError("unknown command '\(verb)'; see --help") }
        var given = Module()
        var (compiler, flags, checks) = ("swiftc", [String](), false)
        var destinations = 0
        var rest = arguments[...]
        func value(_ option: String) throws -> String {
            guard let value = rest.popFirst() else { throw OptionsError("\(option) needs a path") }
            return value
        }
        while let argument = rest.popFirst() {
            switch (argument, verb) {
            case ("--json", "check"): isJSON = true
            case ("--list", _): modules += try Module.modules(listedIn: try value(argument))
            case ("--check", "port"): checks = true
            case ("--compiler", "port"): compiler = try value(argument)
            case ("--flag", "port"): flags.append(try value(argument))
            case ("--dependency", "port"): given.dependencies.insert(try value(argument))
            case ("--base", "port"): base = try value(argument)
            case ("--patch", "port"): destination = .patch(try value(argument))
            case ("--output", "port"): destination = .copies(try value(argument))
            case ("--in-place", "port"): destination = .inPlace
            case _ where argument.hasPrefix("-"): throw OptionsError("unknown option '\(argument)'; see --help")
            default:
                given.sources += try Module.sources(at: argument)
                // A folder usually has the name of its module.
                let name = URL(filePath: argument).deletingPathExtension().lastPathComponent
                let isName = name.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" }
                if given.name.isEmpty, isName { given.name = name }
            }
            if ["--patch", "--output", "--in-place"].contains(argument) { destinations += 1 }
        }
        guard destinations < 2 else { throw OptionsError("give one of --patch, --output and --in-place") }
        let folder = FileManager.default.temporaryDirectory.appending(path: "port-" + UUID().uuidString)
        if checks { typeCheck = TypeCheck(compiler: compiler, flags: flags, folder: folder) }
        if !given.sources.isEmpty { modules.append(given) }
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

    /// Reads a list with the lines `module NAME`, `dependency NAME`, `source PATH` and `context PATH`.
    static func modules(listedIn path: String) throws -> [Module] {
        guard let data = FileManager.default.contents(atPath: path) else { throw OptionsError("cannot read '\(path)'") }
        var modules: [Module] = []
        for line in String(decoding: data, as: UTF8.self).split(separator: "\n") {
            let parts = line.split(separator: " ", maxSplits: 1).map(String.init)
            switch (parts.first, parts.count) {
            case ("module", _): modules.append(Module(name: parts.count == 2 ? parts[1] : ""))
            case ("dependency", 2) where !modules.isEmpty: modules[modules.count - 1].dependencies.insert(parts[1])
            case ("source", 2) where !modules.isEmpty: modules[modules.count - 1].sources.append(parts[1])
            case ("context", 2) where !modules.isEmpty: modules[modules.count - 1].context.append(parts[1])
            default: throw OptionsError("'\(path)' contains an unknown line: \(line)")
            }
        }
        return modules
    }
}

/// A mistake in the options.
struct OptionsError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
