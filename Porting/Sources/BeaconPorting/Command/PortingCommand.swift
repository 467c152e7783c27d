internal import DelegateCheck
internal import Foundation

/// The command `beacon-code`: `check` finds silent failures, `port` writes a patch.
public enum PortingCommand {
    /// The help of the program.
    static let help = """
        USAGE: beacon-code port [PATH]... [--target T]... [--patch FILE | --output DIR | --in-place]
                           [--dependency NAME]... [--check [--compiler PATH] [--flag FLAG]...]
               beacon-code check [PATH]... [--target T]... [--json]

        port   Make iOS beacon code compile for Linux. Writes a patch and changes no source.
        check  Find beacon code that compiles for Linux but is never called.

          PATH          A package, or Swift files and directories of them, such as the sources of an Xcode project
                        (default: the current directory).
          --target T    Read only this target of the package.
          --patch FILE  Write the patch to this file (default: port.patch).
          --output DIR  Write patched copies of the files that change, and no patch.
          --in-place    Change the files.
          --dependency NAME
                        A module that the sources may import, in addition to those of the package's dependencies.
          --check       Build the modules that the sources import, type-check the result, and list each error.
          --compiler PATH, --flag FLAG
                        The compiler for the check (default: swiftc), and a flag for it in place of those that find
                        these modules.
          --json        Print each finding as a JSON object.
        """

    /// Runs the command.
    ///
    /// - Returns: The exit status: 0 if nothing is left to do, 1 if a person must decide something, 2 if the command
    ///   could not run.
    public static func run(_ arguments: [String]) -> Int32 {
        do {
            guard let verb = arguments.first, verb != "--help", verb != "-h" else {
                print(help)
                return arguments.isEmpty ? 2 : 0
            }
            if arguments.contains("--help") || arguments.contains("-h") {
                print(help)
                return 0
            }
            let options = try Options(verb, Array(arguments.dropFirst()))
            return verb == "check" ? try check(options) : try port(options)
        } catch {
            FileHandle.standardError.write(Data("error: \(error)\n".utf8))
            return 2
        }
    }

    // MARK: Checking

    private static func check(_ options: Options) throws -> Int32 {
        var findings: Set<DelegateFinding> = []
        // A file that belongs to two modules is reported once.
        for module in options.modules { findings.formUnion(DelegateCheck.findings(in: try module.texts())) }
        let sorted = findings.sorted { ($0.path, $0.line, $0.column) < ($1.path, $1.line, $1.column) }
        for finding in sorted { print(options.isJSON ? finding.json : finding.description) }
        guard !options.isJSON else { return sorted.isEmpty ? 0 : 1 }
        let all = count(Set(options.modules.flatMap(\.sources)).count, "file")
        if sorted.isEmpty {
            print("No finding in \(all).")
        } else {
            print("\(count(sorted.count, "finding")) in \(Set(sorted.map(\.path)).count) of \(all).")
        }
        return sorted.isEmpty ? 0 : 1
    }

    // MARK: Porting

    private static func port(_ options: Options) throws -> Int32 {
        var files: [String: PortedFile] = [:]
        var failures: [String] = []
        let all = try options.modules.map {
            Porting.port(try $0.texts(), modules: $0.dependencies.union([$0.name]))
        }
        let typeCheck = try options.typeCheck(of: all.flatMap(\.self))
        defer { try? typeCheck.map { try FileManager.default.removeItem(at: $0.folder) } }
        for (module, var ported) in zip(options.modules, all) {
            if let typeCheck { failures += try check(&ported, of: module, typeCheck) }
            for file in ported where files[file.path] == nil { files[file.path] = file }
        }
        let sorted = files.values.sorted { $0.path < $1.path }
        for file in sorted { report(file, path: options.relative(file.path)) }
        let changed = sorted.filter { $0.ported != $0.original }
        for failure in failures { print("error: \(failure)") }
        let decisions = sorted.reduce(failures.count) { $0 + $1.decisions.count }
        let changes = sorted.reduce(0) { $0 + $1.changes.count }
        print("\(count(changes, "change")) in \(changed.count) of \(count(files.count, "file")). ", terminator: "")
        switch decisions {
        case 0 where typeCheck == nil:
            print("No rule has anything left. Add --check to have the result compiled.")
        case 0: print("Nothing is left to decide: the result compiles.")
        case 1: print("One place is left for you to decide.")
        default: print("\(decisions) places are left for you to decide.")
        }
        if sorted.contains(where: \.importsCombine) {
            print(
                "The app imports Combine: depend on the product Combine of swift-beacon; see docs/core-location.md."
            )
        }
        if !changed.isEmpty { print(try write(changed, options)) }
        return decisions == 0 ? 0 : 1
    }

    /// Adds the errors of the compiler to the places that are left, and returns those without a place.
    private static func check(
        _ files: inout [PortedFile], of module: Module, _ check: TypeCheck
    ) throws -> [String] {
        guard !files.isEmpty else { return [] }
        var rest: [String] = []
        let name = module.name.isEmpty ? "Ported" : module.name
        for failure in try check.failures(in: name, files.map { ($0.path, $0.ported) }) {
            guard let index = files.firstIndex(where: { $0.path == failure.path }) else {
                rest.append("\(name) was not checked: \(failure.text)")
                continue
            }
            files[index].add("the compiler says: \(failure.text)", "change it yourself", atPorted: failure.line)
        }
        return rest
    }

    /// Prints changes and decisions in a form that editors understand.
    private static func report(_ file: PortedFile, path: String) {
        let notes = file.changes + file.decisions
        for note in notes.enumerated().sorted(by: { ($0.element.line, $0.offset) < ($1.element.line, $1.offset) }) {
            let kind = note.element.remedy == nil ? "note" : "warning"
            let remedy = note.element.remedy.map { "; " + $0 } ?? ""
            print("\(path):\(note.element.line): \(kind): \(note.element.text)\(remedy)")
        }
    }

    /// Writes the changed files to the chosen destination, and returns a message about them.
    private static func write(_ files: [PortedFile], _ options: Options) throws -> String {
        switch options.destination {
        case .inPlace:
            for file in files { try Data(file.ported).write(to: URL(filePath: file.path)) }
            return "Changed \(count(files.count, "file")) in place."
        case .copies(let folder):
            for file in files {
                let copy = URL(filePath: folder).appending(path: options.relative(file.path).drop { $0 == "/" })
                try FileManager.default.createDirectory(
                    at: copy.deletingLastPathComponent(), withIntermediateDirectories: true)
                try Data(file.ported).write(to: copy)
            }
            return "Wrote \(count(files.count, "patched copy", "patched copies")) into \(folder)."
        case .patch(let path):
            let patch = files.flatMap {
                UnifiedDiff.between($0.original, $0.ported, path: options.relative($0.path))
            }
            try Data(patch).write(to: URL(filePath: path))
            if options.base == FileManager.default.currentDirectoryPath {
                return "Apply the patch with: git apply '\(path)'"
            }
            let full = URL(filePath: path).path(percentEncoded: false)
            return "Apply the patch with: git -C '\(options.base)' apply '\(full)'"
        }
    }

    private static func count(_ number: Int, _ one: String, _ many: String? = nil) -> String {
        "\(number) \(number == 1 ? one : many ?? one + "s")"
    }
}
