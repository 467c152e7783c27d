import BeaconSupport
import Foundation

/// The install id of this gateway at Kumulos: a random UUID in upper case that is created once and stored, as in
/// Kumulos' SDK.
struct InstallID {
    /// The id.
    let value: String

    /// Reads the stored id of a destination, or creates and stores one. Without a folder it is not stored, and must not
    /// be used for sending.
    ///
    /// - Parameters:
    ///   - name: the destination.
    ///   - folder: the folder of state.
    /// - Throws: `StateError` if a new id cannot be stored: an id that changes with each start would be a new install
    ///   each time.
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
