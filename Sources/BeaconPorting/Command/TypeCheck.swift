internal import DelegateCheck
internal import Foundation

/// A check of ported sources by the compiler, which finds what the rules do not know.
final class TypeCheck {
    /// An error of the compiler.
    struct Failure {
        /// The path of the source; nil for an error without a place.
        var path: String?

        /// The line in the ported source.
        var line = 1

        /// The message.
        var text: String
    }

    private let compiler: String
    private let flags: [String]
    private let folder = FileManager.default.temporaryDirectory.appending(path: "port-" + UUID().uuidString)

    /// Creates a check with a compiler and its flags, which must find the modules of Linux.
    init(compiler: String, flags: [String]) {
        self.compiler = compiler
        self.flags = flags
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// Returns the errors in a module. Modules after it can import it.
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
        let failures = Set(text.split(separator: "\n")).sorted().compactMap { Self.failure(String($0), paths) }
        if !failures.isEmpty || process.terminationStatus == 0 { return failures }
        return [Failure(path: nil, text: "\(compiler) ended with \(process.terminationStatus): \(text.prefix(500))")]
    }

    /// Reads `PATH:LINE:COLUMN: error: MESSAGE`.
    private static func failure(_ line: String, _ paths: [String: String]) -> Failure? {
        guard let mark = line.firstRange(of: "error: ") else { return nil }
        let text = String(line[mark.upperBound...])
        let place = line[..<mark.lowerBound].split(separator: ":")
        guard place.count > 2, let path = paths[String(place[0])], let number = Int(place[1]) else {
            return Failure(path: nil, text: text)
        }
        return Failure(path: path, line: number, text: text)
    }
}
