import BeaconRadio
import Testing

@testable import LinuxRadio

@Suite("Diagnosis of bluetoothd")
struct DaemonCheckTests {
    private func survey(_ adapters: BlueZAdapter...) -> BlueZSurvey {
        var survey = BlueZSurvey()
        survey.adapters = adapters
        return survey
    }

    private func adapter(_ monitoring: BlueZAdapter.Monitoring) -> BlueZAdapter {
        var adapter = BlueZAdapter(path: "/org/bluez/hci0")
        adapter.monitoring = monitoring
        adapter.version = "5.66"
        return adapter
    }

    @Test("With monitors everything is fine, and the version is reported")
    func experimental() {
        let findings = DaemonCheck(survey: survey(adapter(.daemon))).findings()
        #expect(findings.map(\.level) == [.ok])
        #expect(findings.first?.message.contains("5.66") == true)
    }

    @Test("Without monitors the remedy is the command that enables them")
    func plain() {
        let findings = DaemonCheck(survey: survey(adapter(.none))).findings()
        #expect(findings.map(\.level) == [.warning])
        #expect(findings.first?.remedy?.contains("--experimental") == true)
    }

    @Test("An active discovery is reported with the command that ends it")
    func discovery() {
        var discovering = adapter(.daemon)
        discovering.isDiscovering = true
        let findings = DaemonCheck(survey: survey(discovering)).findings()
        #expect(findings.map(\.subject) == ["bluetoothd", "scanners"])
        #expect(findings.last?.remedy == "bluetoothctl scan off")
    }

    @Test("A missing bus or bluetoothd is only a warning, since raw HCI needs neither")
    func absent() {
        var none = BlueZSurvey()
        none.busError = RadioError(.unsupported, "no bus")
        #expect(
            DaemonCheck(survey: none).findings() == [
                Finding("bus", .warning, "no bus", remedy: "sudo systemctl start dbus")
            ])
        var alone = BlueZSurvey()
        alone.daemonError = RadioError(.notPermitted, "not you")
        let denied = Finding("bluetoothd", .warning, "not you", remedy: "sudo usermod -aG bluetooth $USER")
        #expect(DaemonCheck(survey: alone).findings() == [denied])
        #expect(DaemonCheck(survey: survey()).findings().map(\.level) == [.warning])
    }
}
