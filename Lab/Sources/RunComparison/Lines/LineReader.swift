import Foundation

/// A reader of JSON lines.
enum LineReader {
    /// Decodes the lines of a text.
    ///
    /// - Throws: ``ComparisonError`` that names the first invalid line.
    static func lines<Line: Decodable>(_ text: String, of type: Line.Type, name: String) throws -> [Line] {
        let decoder = JSONDecoder()
        return try text.split(separator: "\n").enumerated().map { index, line in
            do {
                return try decoder.decode(type, from: Data(line.utf8))
            } catch {
                throw ComparisonError("cannot read line \(index + 1) of \(name): \(line)")
            }
        }
    }
}
