/// Looks at all that decides whether radios work on this machine.
public enum Diagnosis {
    /// How many seconds bluetoothd has to answer; one that is well needs some milliseconds.
    private static let patience: UInt64 = 3

    /// What was found, in the order in which things depend on each other.
    public static func findings() -> [Finding] {
        let files = SystemFiles()
        let kernel = KernelCheck(files: files).findings()
        var adapters: [Finding] = []
        // Without Bluetooth in the kernel there is nothing to ask.
        if let management = ManagementSocket() { adapters = AdapterCheck(adapters: management.adapters()).findings() }
        return kernel + adapters + RfkillCheck(files: files).findings() + PermissionCheck(files: files).findings()
            + DaemonCheck(survey: BlueZSurvey.take(within: patience)).findings()
            + SocketUsersCheck(files: files).findings()
    }
}
