import BeaconModel
import BeaconRadio
import TestSupport
import Testing

@testable import LinuxRadio

@Suite("Survey of BlueZ", .fewAtATime)
struct BlueZSurveyTests {
    @Test("Adapters are listed with their features, and bluetoothd with its version")
    func adapters() throws {
        try PrivateBus.with { bus in
            let blueZ = try StandInThread(at: bus.address, ["hci0", "hci1"])
            defer { blueZ.stop() }
            let survey = BlueZSurvey.make(at: bus.address)
            #expect(survey.busError == nil && survey.daemonError == nil)
            #expect(Set(survey.adapters.map(\.name)) == ["hci0", "hci1"])
            #expect(survey.adapters.allSatisfy { $0.isPowered && !$0.isDiscovering && $0.canAdvertise })
            #expect(survey.adapters.first?.address.description == "02:be:00:00:00:00")
            #expect(survey.version == "5.66")
            #expect(survey.isExperimental == true)
        }
    }

    @Test("The error for an unknown adapter lists the existing ones")
    func unknownAdapter() throws {
        try PrivateBus.with { bus in
            let blueZ = try StandInThread(at: bus.address, ["hci0"])
            defer { blueZ.stop() }
            #expect(try BlueZDriver.open([], at: bus.address).map(\.name) == ["hci0"])
            #expect {
                try BlueZDriver.open([.index(7)], at: bus.address)
            } throws: { error in
                (error as? RadioError)?.message.contains("no adapter hci7. It has hci0 (02:be:00:00:00:00)") == true
            }
        }
    }

    @Test("A missing bus, a missing bluetoothd and a missing permission are distinguished")
    func absence() throws {
        let nowhere = BlueZSurvey.make(at: "unix:path=/nonexistent/bus")
        #expect(nowhere.busError?.code == .unsupported)
        #expect(nowhere.busError?.message.contains("systemctl start dbus") == true)
        try PrivateBus.with { bus in
            let survey = BlueZSurvey.make(at: bus.address)
            #expect(survey.busError == nil)
            #expect(survey.daemonError?.code == .unsupported)
            #expect(survey.daemonError?.message.contains("apt-get install bluez") == true)
        }
        try PrivateBus.with(policy: "<deny send_destination=\"org.bluez\"/>") { bus in
            let blueZ = try StandInBlueZ(at: bus.address)
            // The name must be registered before the survey calls it. The stand-in requests its name after the bus has
            // accepted it.
            for _ in 0..<10 {
                blueZ.process()
                try bus.deliver()
            }
            let survey = BlueZSurvey.make(at: bus.address)
            #expect(survey.daemonError?.code == .notPermitted)
            #expect(survey.daemonError?.message.contains("usermod -aG bluetooth") == true)
        }
    }

    @Test(
        "The version is known if bluetoothd describes itself",
        arguments: [
            ("usb:v1D6Bp0246d0542", "5.66"), ("usb:v1D6Bp0246d0555", "5.85"), ("bluetooth:v00E0p1200d1436", nil),
            ("", nil),
        ])
    func version(modalias: String, version: String?) {
        #expect(BlueZAdapter.version(modalias: modalias) == version)
    }
}
