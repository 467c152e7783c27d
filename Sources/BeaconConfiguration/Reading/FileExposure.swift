import CLibrary
import Foundation

/// A check for users besides the owner, root and the service who can read or change a configuration's files.
///
/// A configuration names programs that beacond starts with its own rights, and its file of secrets has passwords. The
/// modes of a file and of all folders above it decide who can change it (path_resolution(7)).
package struct FileExposure {
    /// The use of a file, which decides who may read it.
    package enum Use: CaseIterable {
        /// The configuration, which all users may read.
        case configuration
        /// The file of secrets.
        case secrets
        /// A program that a rule starts.
        case program
    }

    /// A file or folder that other users can read or change.
    package struct Warning: Hashable, Sendable {
        /// The path of the file or folder.
        package var place: String
        /// A sentence with the danger and the remedy.
        package var message: String
    }

    /// Returns true if every member of a group may access a file of its owner.
    package typealias GroupCheck = (_ group: UInt32, _ owner: UInt32) -> Bool

    private let isTrusted: GroupCheck

    /// Creates a check that trusts these groups; by default root's, the service's, and a user's private group.
    package init(trusting isTrusted: @escaping GroupCheck = Self.isTrusted) { self.isTrusted = isTrusted }

    /// Returns warnings about other users' access to a file, by its own mode and the modes of the folders above it.
    package func warnings(of path: String, as use: Use) -> [Warning] {
        let path = URL(fileURLWithPath: path).standardizedFileURL.path
        // A shell's pipe with a command's output is for this user alone.
        guard let rights = FileRights(path, followsLinks: true), rights.isFile else { return [] }
        var warnings: [Warning] = []
        let writable = excess(S_IWGRP, S_IWOTH, of: rights)
        let readable = use == .secrets ? excess(S_IRGRP, S_IROTH, of: rights) : 0
        let deeds = [readable == 0 ? nil : "read", writable == 0 ? nil : "write"].compactMap(\.self)
        if !deeds.isEmpty {
            let deed = deeds.joined(separator: " and ")
            warnings.append(
                Warning(
                    place: path,
                    message: "other users can \(deed) \(path)\(Self.danger(use)); "
                        + remedy(readable | writable, path, rights)))
        }
        for folder in FileRights.foldersTraversed(to: path) {
            guard let rights = FileRights(folder, followsLinks: true), !rights.isSticky else { continue }
            let writable = excess(S_IWGRP, S_IWOTH, of: rights)
            guard writable != 0 else { continue }
            warnings.append(
                Warning(
                    place: folder,
                    message: "other users can write in \(folder) and replace \(path)\(Self.danger(use)); "
                        + remedy(writable, folder, rights)))
        }
        return warnings
    }

    /// Returns the rights of other users that they should not have.
    private func excess(_ group: UInt32, _ others: UInt32, of rights: FileRights) -> UInt32 {
        rights.mode & (isTrusted(rights.group, rights.owner) ? others : group | others)
    }

    private func remedy(_ excess: UInt32, _ path: String, _ rights: FileRights) -> String {
        // Removes the group's write permission too, which the owner does not need.
        let mode = String(rights.mode & 0o7777 & ~(excess | S_IWGRP | S_IWOTH), radix: 8)
        let sudo = rights.owner == geteuid() && rights.owner != 0 ? "" : "sudo "
        return "repair it with: \(sudo)chmod \(mode) \(path)"
    }

    private static func danger(_ use: Use) -> String {
        switch use {
        case .configuration: ", which decides what programs beacond starts"
        case .secrets: ", which holds secrets"
        case .program: ", which a rule starts"
        }
    }

    // MARK: - Groups

    /// The group of the machine's service, which the package creates.
    private static let serviceGroup = "beacond"

    /// Returns true for root's group, the service's, and a group with the owner's name and no other members.
    private static func isTrusted(_ number: UInt32, _ owner: UInt32) -> Bool {
        guard number != 0 else { return true }
        var entry = group()
        var found: UnsafeMutablePointer<group>?
        var text = [CChar](repeating: 0, count: longestEntry)
        guard getgrgid_r(number, &entry, &text, text.count, &found) == 0, found != nil else { return false }
        let name = String(cString: entry.gr_name)
        return name == serviceGroup || (name == Self.name(ofUser: owner) && entry.gr_mem.pointee == nil)
    }

    private static func name(ofUser number: UInt32) -> String? {
        var entry = passwd()
        var found: UnsafeMutablePointer<passwd>?
        var text = [CChar](repeating: 0, count: longestEntry)
        guard getpwuid_r(number, &entry, &text, text.count, &found) == 0, found != nil else { return nil }
        return String(cString: entry.pw_name)
    }

    /// The buffer size for an entry of the user and group databases, in bytes: a group can have many members.
    private static let longestEntry = 1 << 16
}
