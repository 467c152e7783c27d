import BeaconRadio

/// Whether adapters can be reached by way of bluetoothd, and what it offers.
struct DaemonCheck {
    let survey: BlueZSurvey

    func findings() -> [Finding] {
        // Without bluetoothd raw HCI still works, so that nothing of this is more than a warning.
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
                        + "a raw HCI socket. End that where distances matter.", remedy: "bluetoothctl scan off"))
        }
        return findings
    }

    private func refusal(_ subject: String, _ error: RadioError, unit: String) -> Finding {
        let isDenial = error.code == .notPermitted
        return Finding(
            subject, .warning, error.message,
            remedy: isDenial ? "sudo usermod -aG bluetooth $USER" : "sudo systemctl start \(unit)")
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
