import ArgumentParser
import BeaconModel
import BeaconSupport

/// The file of `--tags`: phones and watches with their keys.
///
/// Each line has a name, a colon, and the keys or the fixed address of one person's devices, separated by spaces. Empty
/// lines and lines that begin with `#` are ignored.
struct TagFile {
    /// The tags, in the order of the file.
    let tags: [DeviceTag]

    /// The path of the file.
    let path: String

    /// The largest file, in bytes.
    private static let largest = 1 << 16

    /// Reads a file.
    ///
    /// - Throws: `ValidationError`, which names a faulty line, but does not show it.
    init(path: String) throws {
        let bytes: [UInt8]
        do {
            bytes = try SmallFile.contents(path: path, limit: Self.largest)
        } catch {
            throw ValidationError("\(error.message).")
        }
        try self.init(text: String(decoding: bytes, as: UTF8.self), path: path)
    }

    /// Reads a file's text.
    init(text: String, path: String) throws {
        var tags: [DeviceTag] = []
        for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            guard let first = line.first(where: { !$0.isWhitespace }), first != "#" else { continue }
            let fault = { ValidationError("line \(index + 1) of \(path) \($0 as String).") }
            // A name may contain colons; keys and addresses have no spaces.
            guard let end = line.firstRange(of: ": ") else {
                throw fault("has no name with a colon and a space before the key, as in \"phone: KEY\"")
            }
            let name = line[..<end.lowerBound].drop(while: \.isWhitespace)
            var keys: [IdentityResolvingKey] = []
            var address: DeviceAddress?
            for word in line[end.upperBound...].split(whereSeparator: \.isWhitespace) {
                if let key = IdentityResolvingKey(word) {
                    keys.append(key)
                } else if let read = DeviceAddress(word) {
                    address = read
                } else {
                    throw fault(
                        "has a word that is neither a key, of 32 hexadecimal digits or 24 characters of base64, nor an "
                            + "address such as aa:bb:cc:dd:ee:ff")
                }
            }
            guard !name.isEmpty, let tag = DeviceTag(name: String(name), keys: keys, fixedAddress: address) else {
                throw fault("needs a name, and a key or an address")
            }
            guard !tags.contains(where: { $0.name == tag.name || $0.identity == tag.identity }) else {
                throw fault("has the name or the key of an earlier line; write all keys of a person in one line")
            }
            tags.append(tag)
        }
        guard !tags.isEmpty else { throw ValidationError("\(path) has no tags; write lines such as \"phone: KEY\".") }
        (self.tags, self.path) = (tags, path)
    }
}
