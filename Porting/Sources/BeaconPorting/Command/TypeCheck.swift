internal import Foundation

/// A check of ported sources by the compiler, which finds what the rules do not know.
struct TypeCheck {
    /// An error of the compiler: a source's path and line, or none, and the message.
    typealias Failure = (path: String?, line: Int, text: String)

    /// The compiler, and flags with which it finds the modules of Linux.
    let compiler: String
    let flags: [String]

    /// The folder for copies of the sources, and for modules that later modules import.
    let folder: URL

    /// Returns the errors in a module.
    func failures(in name: String, _ sources: [(path: String, utf8: [UInt8])]) throws -> [Failure] {
        var paths: [String: String] = [:]
        for (index, source) in sources.enumerated() {
            let place = folder.appending(path: "\(name)/\(index)")
            try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
            let copy = place.appending(path: URL(filePath: source.path).lastPathComponent)
            try Data(source.utf8).write(to: copy)
            paths[copy.path(percentEncoded: false)] = source.path
        }
        let output = folder.appending(path: name + ".txt")
        try Data().write(to: output)
        let hasMain = paths.keys.contains { $0.hasSuffix("/main.swift") }
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments =
            [compiler, "-emit-module", "-wmo", "-module-name", name, "-suppress-warnings", "-diagnostic-style", "llvm"]
            + ["-emit-module-path", folder.appending(path: name + ".swiftmodule").path(percentEncoded: false)]
            + ["-I", folder.path(percentEncoded: false)] + (hasMain ? [] : ["-parse-as-library"]) + flags
            + paths.keys.sorted()
        process.standardOutput = FileHandle.nullDevice
        process.standardError = try FileHandle(forWritingTo: output)
        try process.run()
        process.waitUntilExit()
        let text = String(decoding: try Data(contentsOf: output), as: UTF8.self)
        // Each is `PATH:LINE:COLUMN: error: MESSAGE`.
        let failures: [Failure] = Set(text.split(separator: "\n")).sorted().compactMap { line in
            guard let mark = line.firstRange(of: "error: ") else { return nil }
            let place = line[..<mark.lowerBound].split(separator: ":")
            let path = place.first.flatMap { paths[String($0)] }
            return (path, place.count > 1 ? Int(place[1]) ?? 1 : 1, String(line[mark.upperBound...]))
        }
        if !failures.isEmpty || process.terminationStatus == 0 { return failures }
        return [(nil, 1, "\(compiler) ended with \(process.terminationStatus): \(text.prefix(500))")]
    }
}
