import Glibc

/// A folder that is deleted with its files when this object is deallocated.
final class TemporaryDirectory {
    let path: String

    init() throws {
        var template = Array("/tmp/swift-beacon-tests.XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw SocketPair.Failure(number: errno) }
        path = template.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? "" }
    }

    deinit {
        for name in names { unlink("\(path)/\(name)") }
        rmdir(path)
    }

    /// The names of its files.
    var names: [String] {
        guard let directory = opendir(path) else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }
}
