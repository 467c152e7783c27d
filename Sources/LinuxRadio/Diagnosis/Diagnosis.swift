/// Looks at all that decides whether radios work on this machine.
public enum Diagnosis {
    /// What was found, in the order in which things depend on each other.
    public static func findings() -> [Finding] { findings(SystemFiles()) }

    static func findings(_ files: SystemFiles) -> [Finding] {
        KernelCheck(files: files).findings() + RfkillCheck(files: files).findings()
            + PermissionCheck(files: files).findings() + SocketUsersCheck(files: files).findings()
    }
}
