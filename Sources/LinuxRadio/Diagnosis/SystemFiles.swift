import BeaconSupport
import CLibrary

/// The kernel's files about the system, below `/` or below a folder that replaces it.
struct SystemFiles {
    private let root: String

    /// The largest number of bytes to read of a file; the kernel's files are small.
    private static let largest = 1 << 20

    init(root: String = "") { self.root = root }

    /// Returns the text of a file without surrounding white space, or nil if it cannot be read.
    func text(_ path: String) -> String? {
        guard let bytes = try? SmallFile.contents(path: root + path, limit: Self.largest) else { return nil }
        let text = String(decoding: bytes, as: UTF8.self)
        return String(text.drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
    }

    /// Returns the names in a folder, sorted; empty if it cannot be read.
    func names(in path: String) -> [String] {
        guard let folder = opendir(root + path) else { return [] }
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: MemoryLayout.size(ofValue: pointer.pointee)) {
                    String(cString: $0)
                }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    /// Returns the destination of a symbolic link, or nil if it cannot be read.
    func destination(of path: String) -> String? {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink(root + path, &buffer, buffer.count)
        guard count > 0 else { return nil }
        return String(decoding: buffer[..<count].map { UInt8(truncatingIfNeeded: $0) }, as: UTF8.self)
    }
}

/// The capabilities of this process (capabilities(7)).
struct Capabilities {
    private let bits: UInt64

    /// Reads the effective capabilities in `/proc/self/status`; none if it cannot be read.
    init(_ files: SystemFiles) {
        let line = (files.text("/proc/self/status") ?? "").split(separator: "\n").first { $0.hasPrefix("CapEff:") }
        bits = (line?.split(whereSeparator: \.isWhitespace).last).flatMap { UInt64($0, radix: 16) } ?? 0
    }

    /// CAP_NET_ADMIN, number 12: switch adapters on and off.
    var canAdministerNetwork: Bool { bits & 1 << 12 != 0 }

    /// CAP_NET_RAW, number 13: send commands to a controller.
    var canUseRawSockets: Bool { bits & 1 << 13 != 0 }
}
