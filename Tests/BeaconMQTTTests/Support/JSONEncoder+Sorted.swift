import Foundation

extension JSONEncoder {
    /// One whose output can be compared.
    static var sorted: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return encoder
    }
}
