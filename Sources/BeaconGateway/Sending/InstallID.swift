import BeaconSupport
import Foundation

/// The name of this gateway at Kumulos: a random UUID in upper case that is made once and stored, as Kumulos' own SDK
/// does.
struct InstallID {
    /// The name.
    let value: String

    /// Reads the stored name of a destination, or makes and stores one. Without a folder nothing is stored, and nothing
    /// may be sent under the name.
    ///
    /// - Parameters:
    ///   - name: the destination.
    ///   - folder: the folder of state.
    /// - Throws: `StateError` if a new name cannot be stored: one that changes with each start would be a new
    ///   installation each time.
    init(name: String, in folder: URL?) throws(StateError) {
        guard let folder else {
            value = UUID().uuidString
            return
        }
        let fileName = name.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "kumulos"
        let file = folder.appendingPathComponent("\(fileName).install-id")
        if let stored = try? String(contentsOf: file, encoding: .utf8), let id = UUID(uuidString: stored) {
            value = id.uuidString
            return
        }
        let id = UUID().uuidString
        try AtomicFile.replace(file.path, with: id.utf8)
        value = id
    }
}
