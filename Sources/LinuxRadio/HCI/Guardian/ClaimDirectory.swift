import Glibc

/// Where claims are kept: a folder that does not outlive the machine's run, since no controller keeps an advert over that.
struct ClaimDirectory {
    let path: String

    init(path: String) { self.path = path }

    /// `$XDG_RUNTIME_DIR/swift-beacon`, or `/run/swift-beacon` where there is none and this process may write there.
    ///
    /// - Returns: nil where neither is possible, or the folder is another user's, whose word would not count.
    static func standard() -> ClaimDirectory? {
        let parent = getenv("XDG_RUNTIME_DIR").map { String(cString: $0) } ?? "/run"
        let path = "\(parent)/swift-beacon"
        mkdir(path, 0o700)
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR, status.st_uid == geteuid() else {
            return nil
        }
        return ClaimDirectory(path: path)
    }

    /// A place for a claim on an adapter that no other has.
    func place(for adapter: String, owner: Claim.Owner) -> String {
        "\(path)/\(adapter).\(owner.process).\(UInt32.random(in: 0 ... .max))"
    }

    /// The claims on an adapter, with their places.
    func claims(on adapter: String) -> [(place: String, claim: Claim)] {
        guard let directory = opendir(path) else { return [] }
        defer { closedir(directory) }
        var found: [(String, Claim)] = []
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            guard name.hasPrefix("\(adapter)."), !name.hasSuffix(".new") else { continue }
            let place = "\(path)/\(name)"
            if let claim = TextFile.read(place).flatMap({ Claim($0) }) { found.append((place, claim)) }
        }
        return found
    }
}
