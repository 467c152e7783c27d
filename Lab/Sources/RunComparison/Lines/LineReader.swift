import Foundation

/// Reads lines of JSON.
enum LineReader {
    /// The lines of a text as values.
    ///
    /// - Throws: ``ComparisonError`` that names the first line which is none.
    static func lines<Line: Decodable>(_ text: String, of type: Line.Type, name: String) throws -> [Line] {
        let decoder = JSONDecoder()
        return try text.split(separator: "\n").enumerated().map { index, line in
            do {
                return try decoder.decode(type, from: Data(line.utf8))
            } catch {
                throw ComparisonError("\(name), line \(index + 1) cannot be read: \(line)")
            }
        }
    }
}
