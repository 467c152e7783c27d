import BeaconRadio

/// Whether adapters can be reached by way of bluetoothd, and what it offers.
struct DaemonCheck {
    let survey: BlueZSurvey

    func findings() -> [Finding] {
        // Without bluetoothd raw HCI still works, so that nothing of this is more than a warning.
        if let error = survey.busError { return [Finding("bus", .warning, error.message)] }
        if let error = survey.daemonError { return [Finding("bluetoothd", .warning, error.message)] }
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
                        + "a raw HCI socket. End that where distances matter.", remedy: "bluetoothctl scan off"))
        }
        return findings
    }

    /// A drop-in for systemd (systemd.unit(5)), with bluetoothd where Debian and Fedora have it.
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
            "\(name) runs without --experimental, so that bluez can advertise and tell presence, and cannot range.",
            remedy: Self.experimentalCommand)
    }
}
