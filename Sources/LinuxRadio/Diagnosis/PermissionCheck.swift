/// Whether this process may use raw HCI sockets.
struct PermissionCheck {
    let files: SystemFiles

    /// The program that was started, for the command that mends what is missing.
    private var program: String { files.destination(of: "/proc/self/exe") ?? "PROGRAM" }

    func findings() -> [Finding] {
        let capabilities = Capabilities(files)
        if capabilities.canUseRawSockets, capabilities.canAdministerNetwork {
            return [Finding("permissions", .ok, "This process may use raw HCI sockets and switch adapters on.")]
        }
        let remedy = "sudo setcap cap_net_raw,cap_net_admin+eip \(program)"
        if capabilities.canUseRawSockets {
            return [
                Finding(
                    "permissions", .warning,
                    "This process may use raw HCI sockets, and may not switch adapters on (no CAP_NET_ADMIN).",
                    remedy: remedy)
            ]
        }
        return [
            Finding(
                "permissions", .warning,
                "This process may not use raw HCI sockets (no CAP_NET_RAW); it goes by way of bluetoothd, if at all.",
                remedy: remedy)
        ]
    }
}
