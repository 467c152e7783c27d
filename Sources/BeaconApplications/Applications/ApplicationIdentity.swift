import BeaconSupport
import Foundation

/// The identity of an application: its bundle identifier, or else its executable's path.
///
/// The application's regions and permissions are stored under it. The name of the executable would not be unique:
/// `/opt/a/App` and `/opt/b/App` are two applications, and all test runs of a user have executables with the same name.
package struct ApplicationIdentity: Hashable, Sendable, CustomStringConvertible {
    /// The name. It consists of letters, digits, dots, hyphens and underscores only, so that it can name a folder.
    package let name: String

    /// The application's Info.plist; empty if its executable is not available.
    package let infoPlist: InfoPlist

    /// The name that users see.
    package let displayName: String

    /// The name derived from the executable's path; nil if the path is unknown. Rules may use it.
    package let pathName: String?

    /// The maximum length of a name. A folder's name has at most 255 bytes.
    private static let longestName = 200

    /// Creates an identity from a bundle identifier, an executable's absolute path, or the name of another identity.
    ///
    /// If a name is not a path, characters that cannot be in a folder's name become underscores.
    ///
    /// - Parameters:
    ///   - name: the identifier, path or name.
    ///   - infoPlist: the application's Info.plist.
    ///   - displayName: the name that users see if the Info.plist has none.
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
        // A name that consists of dots only would be a special folder.
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
                StateError(.damagedState, "cannot read the Info.plist of \(name): \(error)", cause: error))
        }
        return ApplicationIdentity(
            infoPlist.identifier ?? path ?? name, infoPlist: infoPlist, displayName: name, executable: path)
    }

    /// Creates an identity from user input: a bundle identifier, the path of an executable, or the name of another
    /// identity. For an executable whose Info.plist has an identifier, that identifier is used, as the application
    /// itself does.
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
    /// proc(5) appends " (deleted)" if the file was replaced, for example by a new build. The application stays the
    /// same.
    private static var executablePath: String? {
        guard let path = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"),
            path.hasPrefix("/")
        else { return nil }
        return path.hasSuffix(" (deleted)") ? String(path.dropLast(" (deleted)".count)) : path
    }

    /// Returns a name that is unique to a path. Slashes become hyphens. Hyphens and characters that cannot be in a
    /// folder's name become an underscore and the byte in hexadecimal, as in systemd-escape(1). No bundle identifier
    /// starts with an underscore.
    ///
    /// If the path is too long, the name consists of a 128-bit checksum of the path, and the path's end.
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

    /// A 64-bit FNV-1a hash, with the standard or another starting value.
    private static func hash(_ text: String, start: UInt64) -> UInt64 {
        text.utf8.reduce(start) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    }

    private static func isPlain(_ scalar: UnicodeScalar) -> Bool {
        ("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar) || ("0"..."9").contains(scalar) || scalar == "."
    }

    /// The name.
    package var description: String { name }

    /// Returns true if two identities have the same name, whatever their Info.plists contain.
    package static func == (left: ApplicationIdentity, right: ApplicationIdentity) -> Bool { left.name == right.name }

    package func hash(into hasher: inout Hasher) { hasher.combine(name) }
}
