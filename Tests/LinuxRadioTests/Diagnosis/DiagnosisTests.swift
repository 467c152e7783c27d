import Foundation
import Testing

@testable import LinuxRadio

@Suite("Diagnosis")
struct DiagnosisTests {
    private func files(_ files: [String: String], links: [String: String] = [:]) throws -> (SystemFolder, SystemFiles) {
        let folder = try SystemFolder(files, links: links)
        return (folder, SystemFiles(root: folder.path.path))
    }

    @Test("A Bluetooth switch is reported as blocked by a command, by a key, or not; other radios are ignored")
    func rfkill() throws {
        let (folder, files) = try files([
            "sys/class/rfkill/rfkill0/type": "wlan\n", "sys/class/rfkill/rfkill0/soft": "1\n",
            "sys/class/rfkill/rfkill1/type": "bluetooth\n", "sys/class/rfkill/rfkill1/name": "hci0\n",
            "sys/class/rfkill/rfkill1/soft": "1\n", "sys/class/rfkill/rfkill1/hard": "0\n",
            "sys/class/rfkill/rfkill2/type": "bluetooth\n", "sys/class/rfkill/rfkill2/name": "hci1\n",
            "sys/class/rfkill/rfkill2/soft": "0\n", "sys/class/rfkill/rfkill2/hard": "1\n",
            "sys/class/rfkill/rfkill3/type": "bluetooth\n", "sys/class/rfkill/rfkill3/name": "hci2\n",
            "sys/class/rfkill/rfkill3/soft": "0\n", "sys/class/rfkill/rfkill3/hard": "0\n",
        ])
        let findings = RfkillCheck(files: files).findings()
        try #require(findings.map(\.level) == [.problem, .problem, .ok])
        #expect(findings.first?.remedy == "sudo rfkill unblock bluetooth")
        #expect(findings[1].remedy == nil)
        withExtendedLifetime(folder) {}
    }

    @Test(
        "Raw sockets need two capabilities, and the command that grants them names the program",
        arguments: [
            ("0000003fffffffff", Finding.Level.ok), ("0000000000003000", .ok), ("0000000000002000", .warning),
            ("0000000000000000", .warning),
        ])
    func permissions(capabilities: String, level: Finding.Level) throws {
        let (folder, files) = try files(
            ["proc/self/status": "Name:\tbeacon\nCapInh:\t0\nCapEff:\t\(capabilities)\n"],
            links: ["proc/self/exe": "/usr/bin/beacon"])
        let findings = PermissionCheck(files: files).findings()
        #expect(findings.map(\.level) == [level])
        let remedy: String? = level == .ok ? nil : "sudo setcap cap_net_raw,cap_net_admin+eip /usr/bin/beacon"
        #expect(findings.first?.remedy == remedy)
        withExtendedLifetime(folder) {}
    }

    @Test("A program that holds an HCI socket is named, but not bluetoothd, which always does")
    func scanners() throws {
        let head = "sk               RefCnt Rmem   Wmem   User   Inode  Parent\n"
        let (folder, files) = try files(
            [
                "proc/net/hci": head + "ffff0001 2 0 0 0 4711 0\nffff0002 2 0 0 0 4712 0\n",
                "proc/100/comm": "bluetoothd\n", "proc/200/comm": "hcidump\n", "proc/300/comm": "sh\n",
                "proc/self/status": "",
            ],
            links: [
                "proc/100/fd/3": "socket:[4711]", "proc/200/fd/5": "socket:[4712]", "proc/300/fd/0": "socket:[99]",
            ])
        let findings = SocketUsersCheck(files: files).findings()
        #expect(findings.map(\.level) == [.warning])
        #expect(findings.first?.message.contains("hcidump (process 200)") == true)
        #expect(findings.first?.message.contains("bluetoothd") == false)
        withExtendedLifetime(folder) {}
    }

    @Test("A kernel without such sockets causes no findings")
    func noSockets() throws {
        let (folder, files) = try files(["proc/self/status": ""])
        #expect(SocketUsersCheck(files: files).findings().isEmpty)
        #expect(RfkillCheck(files: files).findings().isEmpty)
        withExtendedLifetime(folder) {}
    }
}
