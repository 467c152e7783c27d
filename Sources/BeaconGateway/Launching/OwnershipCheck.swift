import BeaconConfiguration
import CLibrary

/// A check that only a user and root can have written a file.
///
/// It applies the rule of sshd for authorized_keys (sshd_config(5), StrictModes) to each folder on the way.
enum OwnershipCheck {
    /// Checks a file or folder and all folders above it.
    ///
    /// - Throws: ``LaunchError`` naming a file or folder that another user could have changed.
    static func check(_ path: String, owner: UInt32) throws(LaunchError) {
        try check(path, owner: owner, isLast: true)
        for folder in FileRights.folders(above: path) { try check(folder, owner: owner, isLast: false) }
    }

    private static func check(_ path: String, owner: UInt32, isLast: Bool) throws(LaunchError) {
        guard let rights = FileRights(path, followsLinks: false) else {
            throw LaunchError(description: "cannot read the owner of \(path): \(String(cString: strerror(errno)))")
        }
        guard rights.isFolder || rights.isFile else {
            throw LaunchError(description: "\(path) is neither a file nor a folder; replace it by one")
        }
        guard rights.owner == owner || (rights.owner == 0 && !isLast) else {
            throw LaunchError(
                description: "\(path) belongs to user \(rights.owner) and not to \(owner); change its owner (chown)")
        }
        guard rights.mode & (S_IWGRP | S_IWOTH) == 0 || (rights.isSticky && !isLast) else {
            throw LaunchError(
                description: "\(path) is writable by other users; remove that permission (chmod go-w \(path))")
        }
    }
}

/// The reason for not starting a program, and the remedy, in a sentence.
struct LaunchError: Error, CustomStringConvertible {
    let description: String
}
