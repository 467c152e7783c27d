import Foundation

/// The name of this gateway at Kumulos: a random UUID in upper case that is made once and kept, as Kumulos' own SDK does.
struct InstallID {
    /// The name.
    let value: String

    /// The name that was kept for a destination, or a new one. Without a folder it is kept nowhere, and nothing may be sent
    /// under it.
    ///
    /// - Throws: why a new one cannot be kept. A name that changes with each start would be a new installation each time.
    init(name: String, in folder: URL?) throws {
        guard let folder else {
            value = UUID().uuidString
            return
        }
        let allowed = CharacterSet.alphanumerics
        let fileName = name.addingPercentEncoding(withAllowedCharacters: allowed) ?? "kumulos"
        let file = folder.appendingPathComponent("\(fileName).install-id")
        if let kept = try? String(contentsOf: file, encoding: .utf8), let id = UUID(uuidString: kept) {
            value = id.uuidString
            return
        }
        let id = UUID()
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try id.uuidString.write(to: file, atomically: true, encoding: .utf8)
        value = id.uuidString
    }
}
