public import Foundation

/// Monitors in files of their application's, each of which is replaced as a whole with each change.
public struct FileMonitorStore: MonitorStore {
    private let application: ApplicationIdentity
    private let directory: StateDirectory

    /// The monitors of an application.
    public init(_ application: ApplicationIdentity, in directory: StateDirectory = .user) {
        self.application = application
        self.directory = directory
    }

    /// What was last written under a name; nil if nothing was.
    public func load(_ name: String) throws(ServiceError) -> Data? { try directory.read(file(of: name)) }

    /// Replaces what was written under a name.
    public func save(_ content: Data, as name: String) throws(ServiceError) {
        try directory.write(content, to: file(of: name))
    }

    private func file(of name: String) -> URL { directory.file("monitors/\(Self.fileName(name))", of: application) }

    /// A name that can be a file's, and another one for each monitor: what is no letter or digit of ASCII is written as a
    /// percent sign and the byte.
    private static func fileName(_ name: String) -> String {
        var result = ""
        for byte in name.utf8 {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "a")...UInt8(ascii: "z"):
                result.unicodeScalars.append(UnicodeScalar(byte))
            default:
                result += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            }
        }
        return result
    }
}
