import BeaconRadio
import CBluetooth
import CLibrary

/// The check of the kernel's Bluetooth support.
struct KernelCheck {
    let files: SystemFiles

    func findings() -> [Finding] {
        let release = files.text("/proc/sys/kernel/osrelease") ?? "of unknown release"
        switch beacon_bluetooth_support() {
        case 0: return [Finding("kernel", .ok, "Linux \(release) with Bluetooth.")]
        case EAFNOSUPPORT:
            return [
                Finding(
                    "kernel", .problem, "Linux \(release) has no Bluetooth, or its module is not loaded.",
                    remedy: "sudo modprobe --all bluetooth btusb")
            ]
        case let number:
            return [
                Finding(
                    "kernel", .problem,
                    "Linux \(release) lets this process open no Bluetooth socket: \(String(cString: strerror(number))). "
                        + "In a container, share the host's network (--network host).")
            ]
        }
    }
}

/// The check of the adapters: their features, and whether they are on.
struct AdapterCheck {
    let adapters: [AdapterInformation]

    func findings() -> [Finding] {
        guard !adapters.isEmpty else {
            return [
                Finding(
                    "adapters", .problem,
                    "There is no Bluetooth adapter. Plug one in; a built-in one may be off in the firmware, or its driver "
                        + "may lack its firmware.", remedy: "sudo dmesg | grep -i bluetooth")
            ]
        }
        return adapters.map { adapter in
            let version = adapter.versionName.map { "Bluetooth \($0)" } ?? "Bluetooth newer than 6.0"
            let text = "\(adapter.address), \(version)"
            guard adapter.supported.contains(.lowEnergy) else {
                return Finding(
                    adapter.name, .problem, "\(text), without Low Energy, which beacons use. Use another adapter.")
            }
            guard adapter.current.contains(.powered) else {
                return Finding(
                    adapter.name, .warning, "\(text), is switched off; beacon switches it on if it may.",
                    remedy: "bluetoothctl power on")
            }
            return Finding(adapter.name, .ok, "\(text), is switched on.")
        }
    }
}

/// The check of switches that block the radio, by hardware or by a command (rfkill(8)).
struct RfkillCheck {
    let files: SystemFiles

    func findings() -> [Finding] {
        let switches = files.names(in: "/sys/class/rfkill").filter {
            files.text("/sys/class/rfkill/\($0)/type") == "bluetooth"
        }
        return switches.map { name in
            let path = "/sys/class/rfkill/\(name)"
            let adapter = files.text("\(path)/name") ?? name
            if files.text("\(path)/hard") == "1" {
                return Finding("rfkill", .problem, "\(adapter) is blocked by a switch or key on the machine. Use that.")
            }
            if files.text("\(path)/soft") == "1" {
                return Finding("rfkill", .problem, "\(adapter) is blocked.", remedy: "sudo rfkill unblock bluetooth")
            }
            return Finding("rfkill", .ok, "\(adapter) is not blocked.")
        }
    }
}

/// The check of this process's permission to use raw HCI sockets.
struct PermissionCheck {
    let files: SystemFiles

    /// The path of this program, for the command that grants missing permissions.
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
                "This process may not use raw HCI sockets (no CAP_NET_RAW); it can only use bluetoothd, if that works.",
                remedy: remedy)
        ]
    }
}

/// The check of bluetoothd and its features.
struct DaemonCheck {
    let survey: BlueZSurvey

    func findings() -> [Finding] {
        // Raw HCI works without bluetoothd, so none of these findings is more than a warning.
        if let error = survey.busError { return [refusal("bus", error, unit: "dbus")] }
        if let error = survey.daemonError { return [refusal("bluetoothd", error, unit: "bluetooth")] }
        let name = "bluetoothd\(survey.version.map { " \($0)" } ?? "")"
        guard let isExperimental = survey.isExperimental else {
            return [Finding("bluetoothd", .warning, "\(name) runs and has no adapter.")]
        }
        var findings = [experimental(name, isExperimental)]
        for adapter in survey.adapters where adapter.isDiscovering {
            findings.append(
                Finding(
                    "scanners", .warning,
                    "Some program discovers with \(adapter.name) by way of bluetoothd, which hides repeated adverts from "
                        + "a raw HCI socket. End that if you need distances.", remedy: "bluetoothctl scan off"))
        }
        return findings
    }

    private func refusal(_ subject: String, _ error: RadioError, unit: String) -> Finding {
        let isDenial = error.code == .notPermitted
        return Finding(
            subject, .warning, error.message,
            remedy: isDenial ? "sudo usermod -aG bluetooth $USER" : "sudo systemctl start \(unit)")
    }

    /// A command that writes a drop-in for systemd (systemd.unit(5)), with Debian's and Fedora's path of bluetoothd.
    private static let experimentalCommand =
        #"sudo mkdir -p /etc/systemd/system/bluetooth.service.d && printf '[Service]\nExecStart=\nExecStart="#
        + #"/usr/libexec/bluetooth/bluetoothd --experimental\n' | sudo tee "#
        + "/etc/systemd/system/bluetooth.service.d/experimental.conf && sudo systemctl daemon-reload && "
        + "sudo systemctl restart bluetooth"

    private func experimental(_ name: String, _ isExperimental: Bool) -> Finding {
        if isExperimental {
            return Finding(
                "bluetoothd", .ok, "\(name) runs with advertisement monitors: bluez can watch, range and advertise.")
        }
        return Finding(
            "bluetoothd", .warning,
            "\(name) runs without --experimental, so bluez can advertise and monitor, but not range.",
            remedy: Self.experimentalCommand)
    }
}

/// The check for other programs with HCI sockets: two programs that scan with one adapter end each other's scans.
struct SocketUsersCheck {
    let files: SystemFiles

    /// Programs that use such sockets by design and whose scans are found by other checks.
    private static let expected: Set<String> = ["bluetoothd", "btmon", "btattach"]

    func findings() -> [Finding] {
        let inodes = socketNumbers
        guard !inodes.isEmpty else { return [] }
        var users: [String] = []
        for name in files.names(in: "/proc") {
            guard let process = Int32(name), process != getpid() else { continue }
            let isUser = files.names(in: "/proc/\(name)/fd").contains { descriptor in
                guard let link = files.destination(of: "/proc/\(name)/fd/\(descriptor)"), link.hasPrefix("socket:[")
                else { return false }
                return inodes.contains(String(link.dropFirst(8).dropLast()))
            }
            let program = files.text("/proc/\(name)/comm") ?? "a program"
            if isUser, !Self.expected.contains(program) { users.append("\(program) (process \(name))") }
        }
        guard !users.isEmpty else { return [Finding("scanners", .ok, "No other program uses HCI sockets.")] }
        return [
            Finding(
                "scanners", .warning,
                "\(users.joined(separator: ", ")) \(users.count == 1 ? "has" : "have") an HCI socket open too. Programs "
                    + "that scan with the same adapter end each other's scans.")
        ]
    }

    /// The numbers of all HCI sockets: the sixth column of `/proc/net/hci`, below a line of headings.
    private var socketNumbers: Set<String> {
        let lines = (files.text("/proc/net/hci") ?? "").split(separator: "\n").dropFirst()
        return Set(
            lines.compactMap { line in
                let columns = line.split(whereSeparator: \.isWhitespace)
                return columns.count > 5 ? String(columns[5]) : nil
            })
    }
}
