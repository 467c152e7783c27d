import Foundation

/// The program's output, written one line at a time without buffering, since it is a file.
enum Output {
    /// Writes a line.
    static func line(_ text: String) { FileHandle.standardOutput.write(Data((text + "\n").utf8)) }
}
