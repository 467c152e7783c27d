import ArgumentParser
import BeaconSupport

/// The check that a command's output is not one of its other files, which it would overwrite.
enum OutputCheck {
    /// Fails if a command would overwrite a file that it reads.
    ///
    /// - Parameters:
    ///   - output: the path to write; `-` is standard output.
    ///   - inputs: the paths to read; `-` is standard input.
    /// - Throws: `ValidationError`, with what to do.
    static func check(_ output: String, inputs: [String?]) throws {
        guard let target = identity(ofOutput: output) else { return }
        for case let input? in inputs where FileIdentity(path: input == "-" ? "/dev/stdin" : input) == target {
            throw ValidationError(
                "\(output == "-" ? "Standard output" : output) is also an input (\(input)), which would be lost. "
                    + "Write to another file.")
        }
    }

    /// Returns true if two outputs are the same file, whether or not it exists yet.
    static func isOneFile(_ output: String, _ other: String) -> Bool {
        guard let target = identity(ofOutput: output) else { return false }
        return target == identity(ofOutput: other)
    }

    private static func identity(ofOutput path: String) -> FileIdentity? {
        FileIdentity(path: path == "-" ? "/dev/stdout" : path)
    }
}
