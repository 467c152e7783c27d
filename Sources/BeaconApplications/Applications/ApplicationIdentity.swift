import BeaconSupport
import Foundation

/// The identity of an application, under which its regions and permissions are stored: its bundle identifier, else its
/// executable's path.
///
/// An executable's name would not do: `/opt/a/App` and `/opt/b/App` are two applications, and all test runs of a user
/// have an executable of one name.
package struct ApplicationIdentity: Hashable, Sendable, CustomStringConvertible {
    /// The name, of letters, digits, dots, hyphens and underscores only, so that it can name a folder.
    package let name: String

    /// What the application says of itself; empty where its executable is not at hand.
    package let infoPlist: InfoPlist

    /// The name that its user knows.
    package let displayName: String

    /// The name that its executable's path gives; nil where that is unknown. Rules may be written for it.
    package let pathName: String?

    /// The longest name. A folder's name has at most 255 bytes.
    private static let longestName = 200

    /// Creates an identity from a bundle identifier, an executable's absolute path, or the name of another identity.
    ///
    /// In a name that is not a path, characters that cannot name a folder become underscores.
    ///
    /// - Parameters:
    ///   - name: the identifier, path or name.
    ///   - infoPlist: what the application says of itself.
    ///   - displayName: the name that its user knows, where its Info.plist has none.
    ///   - executable: its executable's path.
    package init(
        _ name: String, infoPlist: InfoPlist = InfoPlist(), displayName: String? = nil, executable: String? = nil
    ) {
        self.infoPlist = infoPlist
        pathName = executable.map(Self.name(ofPath:))
        self.displayName =
            infoPlist.name ?? displayName
            ?? (name.hasPrefix("/") ? String(name.split(separator: "/").last ?? "/") : name)
        if name.hasPrefix("/") {
            self.name = Self.name(ofPath: name)
            return
        }
        let scalars = name.unicodeScalars.map { Self.isPlain($0) || $0 == "-" || $0 == "_" ? Character($0) : "_" }
        let cleaned = String(scalars.prefix(Self.longestName))
        // A name of dots only would be a folder's.
        self.name = cleaned.allSatisfy { $0 == "." } ? "_" + cleaned : cleaned
    }

    /// The identity of this process.
    package static var current: ApplicationIdentity {
        let path = executablePath
        let name = ProcessInfo.processInfo.processName
        var infoPlist = InfoPlist()
        do {
            if let path { infoPlist = try InfoPlist(ofExecutable: path) }
        } catch {
            StateDirectory.writeToStandardError(
                StateError(.damagedState, "the Info.plist of \(name) cannot be read: \(error)", cause: error))
        }
        return ApplicationIdentity(
            infoPlist.identifier ?? path ?? name, infoPlist: infoPlist, displayName: name, executable: path)
    }

    /// Creates the identity of what a user names: a bundle identifier, an executable, of whose Info.plist the
    /// identifier counts as for the application itself, or the name of another identity.
    package init(named text: String) {
        let path = URL(fileURLWithPath: text).resolvingSymlinksInPath().path
        if text.hasPrefix("/"), let identifier = (try? InfoPlist(ofExecutable: path))?.identifier {
            self.init(identifier)
        } else {
            self.init(text)
        }
    }

    /// The path of this process's executable.
    ///
    /// proc(5) has " (deleted)" behind it where the file was replaced since, by a new build for instance: the
    /// application stays the same one.
    private static var executablePath: String? {
        guard let path = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"),
            path.hasPrefix("/")
        else { return nil }
        return path.hasSuffix(" (deleted)") ? String(path.dropLast(" (deleted)".count)) : path
    }

    /// Returns a name that no other path has: slashes become hyphens, and hyphens and what cannot name a folder an
    /// underscore and the byte in hexadecimal, as systemd-escape(1) does. The leading underscore is one that no bundle
    /// identifier has.
    ///
    /// Of a path too long for that the end is kept, with a checksum of 128 bits of all of it.
    private static func name(ofPath path: String) -> String {
        var name = "_"
        for byte in path.utf8.dropFirst() {
            let scalar = UnicodeScalar(byte)
            if scalar == "/" {
                name.append("-")
            } else if isPlain(scalar) {
                name.unicodeScalars.append(scalar)
            } else {
                name += "_" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
            }
        }
        guard name.count > longestName else { return name }
        let checksum = [0xcbf2_9ce4_8422_2325, 0x9e37_79b9_7f4a_7c15].map { String(hash(path, start: $0), radix: 16) }
        return "_" + checksum.joined() + "-" + name.suffix(longestName - 40)
    }

    /// FNV-1a of 64 bits, from its own or another starting value.
    private static func hash(_ text: String, start: UInt64) -> UInt64 {
        text.utf8.reduce(start) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    }

    private static func isPlain(_ scalar: UnicodeScalar) -> Bool {
        ("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar) || ("0"..."9").contains(scalar) || scalar == "."
    }

    /// The name.
    package var description: String { name }

    /// Returns true for two identities of one name, whatever their executables say of themselves.
    package static func == (left: ApplicationIdentity, right: ApplicationIdentity) -> Bool { left.name == right.name }

    package func hash(into hasher: inout Hasher) { hasher.combine(name) }
}
