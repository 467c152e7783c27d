import BeaconRadio
import Glibc

/// What the kernel tells of the system in files, below `/` or below a folder that stands for it.
struct SystemFiles {
    private let root: String

    /// What the kernel puts into one such file is small.
    private static let largest = 1 << 20

    init(root: String = "") { self.root = root }

    /// The text of a file without the white space around it; nil where it cannot be read.
    func text(_ path: String) -> String? {
        guard let bytes = try? FileInput.contents(path: root + path, limit: Self.largest) else { return nil }
        let text = String(decoding: bytes, as: UTF8.self)
        return String(text.drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
    }

    /// The names in a folder, in order; none where it cannot be read.
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

    /// Where a symbolic link leads; nil where it cannot be read.
    func destination(of path: String) -> String? {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink(root + path, &buffer, buffer.count)
        guard count > 0 else { return nil }
        return String(decoding: buffer[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
