import BeaconCapture
import Testing

@Suite("Formats without readable adverts")
struct OtherFormatTests {
    @Test(
        "The error names a known format, and the way to record adverts",
        arguments: [
            (
                "Bluetooth monitor ver 5.66\n> HCI Event: LE Meta Event (0x3e) plen 42   #1 [hci0] 0.123\n",
                ["btmon", "btmon -w", "hcidump -R"]
            ),
            ("= Note: Linux version 6.1.0-27-amd64 (x86_64)      0.1\n", ["btmon", "btmon -w"]),
            ("@ MGMT Open: bluetoothd (privileged) version 1.22", ["btmon -w"]),
            ("> HCI Event: LE Meta Event (0x3e) plen 42   #1 [hci0] 0.123\n", ["btmon -w"]),
            (
                """
                HCI sniffer - Bluetooth packet analyzer ver 5.50
                device: hci0 snap_len: 1500 filter: 0xffffffff
                > HCI Event: LE Meta Event (0x3e) plen 42
                    LE Advertising Report
                      RSSI: -60

                """, ["hcidump's readable output", "hcidump -R"]
            ),
            ("2026-11-21 10:11:12.345678 > HCI Event: LE Meta Event (0x3e) plen 42\n", ["hcidump -R"]),
            ("< HCI Command: LE Set Scan Enable (0x08|0x000c) plen 2\n", ["hcidump -R"]),
            ("Time,Name,Address,RSSI\n10:11,hall,C0:00:00:5E:12:01,-60\n", ["CSV", "beacon record", "sighting log"]),
            ("uuid;major;minor;rssi\ne2c5;1;2;-60\n", ["CSV"]), ("\"UUID\",\"Major\",\"RSSI\"\n", ["CSV"]),
            ("1700000000,e2c56db5-dffb-48d2-b060-d0f5a71096e0,1,2,-60\n", ["CSV"]),
            (
                "TIME         FROM    UUID                                 MAJOR MINOR POWER RSSI\n",
                ["beacon scan --json"]
            ),
            (#"[{"uuid":"e2c56db5-dffb-48d2-b060-d0f5a71096e0","major":1}]"#, ["JSON", "jq -c '.[]' FILE"]),
            (#"[ { "_index": "packets", "_source": { "layers": {} } } ]"#, ["Wireshark", "pcapng"]),
            ("<?xml version=\"1.0\"?>\n<pdml version=\"0\">", ["Wireshark", "PDML"]),
            ("<!DOCTYPE html><html>", ["page"]), ("version https://git-lfs.github.com/spec/v1\n", ["git lfs pull"]),
            ("nRF Connect, 2026-11-21\n", ["nRF Connect", "beacon record"]),
            ("--- BEGIN:BTSNOOP_LOG_SUMMARY (1 bytes in) ---\n", ["btsnooz"]),
            ("PK\u{3}\u{4}\u{14}\0\0\0", ["ZIP", "btsnoop_hci.log"]),
            ("0201061aff4c000215e2c56db5dffb48d2b060d0f5a71096e000010002c5\n", ["beacon decode"]),
            ("[NEW] Device C0:00:00:5E:12:01 C0-00-00-5E-12-01\n", ["bluetoothctl", "btmon -w"]),
            ("[CHG] Device C0:00:00:5E:12:01 RSSI: -60\n", ["bluetoothctl", "beacon record"]),
            ("\u{1B}[0;94m[bluetooth]\u{1B}[0m# scan on\nDiscovery started\n", ["bluetoothctl"]),
            ("Agent registered\n[NEW] Controller 00:00:00:5E:12:01 hall [default]\n", ["bluetoothctl"]),
            (
                #"home/hall/BTtoMQTT/C0 {"id":"C0:00:00:5E:12:01","rssi":-60,"mac_type":1,"name":"a"}"# + "\n",
                ["messages of a gateway", "mqtt://HOST"]
            ),
            (#"x/y [{"type":"Gateway","mac":"020000000002","rssi":1}]"#, ["messages of a gateway"]),
            ("$GPRP,C00000000001,CCB97E7361A4,-70,0201061AFF4C000215\n", ["messages of a gateway"]),
        ])
    func known(text: String, words: [String]) throws {
        let error = try #require(try Reading(text.unicodeScalars.map { UInt8($0.value) }).error)
        #expect(error.code == .otherFormat, "\(error)")
        #expect(error.offset != nil)
        for word in words { #expect(error.message.contains(word), "\(error)") }
    }

    @Test(
        "The error names another compression, and the command to unpack it",
        arguments: [
            ([0xFD, 0x37, 0x7A, 0x58, 0x5A, 0x00, 0, 4, 0xE6], "xz -dc"),
            ([0x28, 0xB5, 0x2F, 0xFD, 4, 0x88], "zstd -dc"),
            ([0x42, 0x5A, 0x68, 0x39, 0x31, 0x41, 0x59], "bzip2 -dc"),
            ([0xFF, 0xFE, 0x7B, 0x00, 0x22, 0x00], "UTF-16"),
        ] as [([UInt8], String)])
    func packed(bytes: [UInt8], remedy: String) throws {
        for content in [bytes, Gzip.member(bytes)] {
            let error = try #require(try Reading(content).error)
            #expect(error.code == .otherFormat)
            #expect(error.message.contains(remedy), "\(error)")
        }
    }

    @Test("The error names an archive in a gzipped file")
    func archive() throws {
        let tar = [UInt8](repeating: 0x61, count: 257) + Array("ustar\u{0}00".utf8) + [UInt8](repeating: 0, count: 250)
        let error = try #require(try Reading(Gzip.member(tar)).error)
        #expect(error.message.contains("tar archive"))
    }

    @Test("Packets before a decoded packet's text are read")
    func mixed() throws {
        let packet = Hcidump.packet(join([4], Advert.samples[0].event), lineEnd: "\n")
        let reading = try Reading(Array((packet + "> HCI Event: LE Meta Event (0x3e) plen 42\n").utf8))
        #expect(reading.heard.count == 1)
        #expect(reading.error?.code == .otherFormat)
        #expect(reading.error?.offset == packet.utf8.count)
    }
}
