import Foundation

/// What the program tells, a line each and at once, since the output is a file.
enum Output {
    /// Writes a line.
    static func line(_ text: String) { FileHandle.standardOutput.write(Data((text + "\n").utf8)) }
}
