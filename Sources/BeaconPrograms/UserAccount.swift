import Glibc

/// A user of this machine, for whom programs are run.
package struct UserAccount: Hashable, Sendable {
    /// The name.
    package let name: String
    /// The number.
    package let userID: UInt32
    /// The number of the user's own group.
    package let groupID: UInt32
    /// The numbers of all groups of the user.
    package let groups: [UInt32]
    /// The home directory.
    package let home: String

    /// The user of a number; nil if there is none.
    package init?(id: UInt32) {
        self.init { entry, buffer, size, found in getpwuid_r(id, entry, buffer, size, found) }
    }

    /// The user of a name; nil if there is none.
    package init?(name: String) {
        self.init { entry, buffer, size, found in getpwnam_r(name, entry, buffer, size, found) }
    }

    /// The user of this process; nil if its number has no name.
    package static var current: UserAccount? { UserAccount(id: geteuid()) }

    private init?(
        _ look: (
            UnsafeMutablePointer<passwd>, UnsafeMutablePointer<CChar>, Int,
            UnsafeMutablePointer<UnsafeMutablePointer<passwd>?>
        ) -> Int32
    ) {
        // Entries on a gateway are far shorter.
        let size = 65_536
        let buffer = UnsafeMutablePointer<CChar>.allocate(capacity: size)
        defer { buffer.deallocate() }
        var entry = passwd()
        var found: UnsafeMutablePointer<passwd>?
        guard look(&entry, buffer, size, &found) == 0, found != nil else { return nil }
        name = String(cString: entry.pw_name)
        userID = entry.pw_uid
        groupID = entry.pw_gid
        home = String(cString: entry.pw_dir)
        var count: Int32 = 256
        var groups = [gid_t](repeating: 0, count: Int(count))
        if getgrouplist(entry.pw_name, entry.pw_gid, &groups, &count) < 0 {
            // The call returned the number of groups.
            groups = [gid_t](repeating: 0, count: Int(count))
            guard getgrouplist(entry.pw_name, entry.pw_gid, &groups, &count) >= 0 else { return nil }
        }
        self.groups = Array(groups.prefix(Int(count)))
    }
}
