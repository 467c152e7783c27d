import BeaconModel

/// Small valid inputs with which the fuzzer begins.
enum Seeds {
    private static let frame = IBeaconFrame(
        identity: BeaconIdentity(
            uuid: ProximityUUID(high: 0xE2C5_6DB5_DFFB_48D2, low: 0xB060_D0F5_A710_96E0), major: 1, minor: 2),
        measuredPower: -59)

    static let adverts: [[UInt8]] = [
        frame.advert, [0x1B, 0xFF] + frame.advert.suffix(25) + [0x64], [2, 1, 6, 3, 3, 0xAA, 0xFE, 0],
    ]

    private static let address: [UInt8] = [0x43, 0x3E, 0xA2, 0xC9, 0x6B, 0x6A]
    private static let legacyReport = [3, 1] + address + [30] + frame.advert + [0xC5]
    private static let extendedReport =
        [0, 0, 1] + address + [1, 0, 0, 127, 0xC5] + [UInt8](repeating: 0, count: 9) + [30] + frame.advert
    private static let directedReport = [1, 1] + address + [1] + address + [0xC5]

    private static func event(_ subevent: UInt8, _ count: UInt8, _ reports: [UInt8]) -> [UInt8] {
        [0x3E, UInt8(reports.count + 2), subevent, count] + reports
    }

    static let events = [
        event(0x02, 1, legacyReport), event(0x02, 2, legacyReport + legacyReport), event(0x0D, 1, extendedReport),
        event(0x0B, 2, directedReport + directedReport),
    ]

    private static let accessAddress: [UInt8] = [0xD6, 0xBE, 0x89, 0x8E]
    private static let packet = accessAddress + [0x42, 36] + address + frame.advert + [0, 0, 0]

    static let linkLayerPackets = [
        packet, accessAddress + [0, 0x42, 36] + address + frame.advert + [0, 0, 0],
        accessAddress + [0x47, 38, 7, 1] + address + frame.advert + [1, 2, 3],
        // A scan request of an ADV_NONCONN_IND: packet 4 of `ubertooth_capture_0.pcapng` with a correct CRC (MIT
        // Lincoln Laboratory, BLE-RSSI-Various-Static-Configurations, CC BY 4.0).
        accessAddress
            + [0x43, 0x0C, 0x9C, 0xFC, 0x07, 0xE7, 0x3D, 0x10, 0xD8, 0x03, 0x34, 0x4B, 0x5C, 0x74, 0x62, 0x10, 0xBA],
    ]

    // MARK: - Captures

    private static func join(_ parts: [UInt8]...) -> [UInt8] { Array(parts.joined()) }

    private static func big(_ number: UInt32) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> UInt32($0)) }
    }

    private static func little(_ number: UInt32) -> [UInt8] { big(number).reversed() }

    private static func btsnoop(_ datalink: UInt32, flags: UInt32, _ packet: [UInt8]) -> [UInt8] {
        let record =
            big(UInt32(packet.count)) + big(UInt32(packet.count)) + big(flags) + big(0)
            + [0, 0xE2, 0xE8, 0x5F, 0, 0, 0, 0] + packet
        return Array("btsnoop\0".utf8) + big(1) + big(datalink) + record + record
    }

    private static func pcap(_ link: UInt32, _ packet: [UInt8]) -> [UInt8] {
        let record =
            little(1_700_000_000) + little(5) + little(UInt32(packet.count)) + little(UInt32(packet.count)) + packet
        return little(0xA1B2_C3D4) + [2, 0, 4, 0] + little(0) + little(0) + little(65_535) + little(link) + record
            + record
    }

    private static func block(_ type: UInt32, _ body: [UInt8]) -> [UInt8] {
        let padded = body + [UInt8](repeating: 0, count: (4 - body.count % 4) % 4)
        return little(type) + little(UInt32(padded.count + 12)) + padded + little(UInt32(padded.count + 12))
    }

    private static func pcapng(_ link: UInt8, _ packet: [UInt8]) -> [UInt8] {
        let count = little(UInt32(packet.count))
        return block(0x0A0D_0D0A, little(0x1A2B_3C4D) + [1, 0, 0, 0] + [UInt8](repeating: 0xFF, count: 8))
            + block(
                1,
                [link, link == 187 || link == 201 || link == 251 || link == 254 ? 0 : 1, 0, 0] + little(0)
                    + [2, 0, 4, 0] + Array("hci0".utf8) + [9, 0, 1, 0, 9, 0, 0, 0]
                    + [14, 0, 8, 0, 1, 0, 0, 0, 0, 0, 0, 0] + little(0))
            + block(6, little(0) + little(0x05) + little(0x06) + count + count + packet)
            + block(3, count + packet) + block(5, little(0) + little(0))
    }

    private static let oneEvent = events[0]
    private static let withHeader = [37, 0xC5, 0x80, 0] + accessAddress + [0x13, 0x00] + packet
    private static let nordic = [0, 6, 3, 0, 0, 2, 0, 10, 1, 37, 59, 0, 0, 0, 0, 0, 0] + packet

    private static func packetLogger(_ number: (UInt32) -> [UInt8]) -> [UInt8] {
        let count = UInt32(oneEvent.count + 9)
        let record: [UInt8] = join(number(count), number(1_700_000_000), number(7), [1], oneEvent)
        return record + record
    }

    private static let hcidump: [UInt8] = {
        let digits = Array("0123456789ABCDEF".utf8)
        let text = ([4] + oneEvent).flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)], UInt8(ascii: " ")] }
        let lines = Array("> ".utf8) + text.prefix(60) + Array("\n  ".utf8) + text.dropFirst(60) + Array("\n".utf8)
        let header = Array("HCI sniffer - Bluetooth packet analyzer ver 5.28\ndevice: hci0 snap_len: 1500\n".utf8)
        return header + lines + Array("2026-11-21 10:11:12.345678 ".utf8) + lines
    }()

    static let sightings = [
        #"{"time":1700000000.123,"receiver":"hci0","address":"aa:bb:cc:dd:ee:ff","uuid":"# + uuid
            + #","major":1,"minor":2,"measuredPower":-59,"rssi":-70}"# + "\n",
        #"{"x":{"y":[1,null,true,{"z":"\u00e9\n"}]},"rssi":127,"uuid":"# + uuid
            + #", "major":65535, "minor":0, "time":null}"# + "\r\n\n",
        #"{"time":1e9,"rssi":-7.0e1,"major":1,"minor":1,"receiver":"\ud83d\ude00","uuid":"# + uuid + "}",
    ].map { Array($0.utf8) }

    private static let uuid = "\"e2c56db5-dffb-48d2-b060-d0f5a71096e0\""

    /// Returns a gzip member with uncompressed `bytes` and zero checksums, up to which it is readable.
    private static func stored(_ bytes: [UInt8]) -> [UInt8] {
        let count = UInt16(bytes.count)
        return [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3, 1]
            + [UInt8(count & 0xFF), UInt8(count >> 8), UInt8(~count & 0xFF), UInt8(~count >> 8)] + bytes
            + [UInt8](repeating: 0, count: 8)
    }

    static let captures: [[UInt8]] = {
        let plain =
            [
                btsnoop(1001, flags: 3, oneEvent), btsnoop(1002, flags: 3, [4] + oneEvent),
                btsnoop(2001, flags: 3, oneEvent),
                pcap(187, [4] + oneEvent), pcap(201, [0, 0, 0, 1, 4] + oneEvent), pcap(251, packet),
                pcap(254, [0, 0, 0, 3] + oneEvent), pcap(256, withHeader), pcap(272, nordic),
                pcapng(187, [4] + oneEvent),
                pcapng(0, withHeader), pcapng(16, nordic), packetLogger(big), packetLogger(little), hcidump,
            ] + sightings
        return plain + [stored(plain[0]), stored(hcidump)]
    }()

    // MARK: - Messages of receivers

    private static let hexadecimal = "0201061aff4c000215e2c56db5dffb48d2b060d0f5a71096e000010002c5"

    static let receiverMessages =
        [
            " home/hall/BTtoMQTT/1\n" + #"{"id":"C0:00:00:00:00:01","mac_type":1,"rssi":-70,"mfid":"4c00","#
                + #""uuid":"e2c56db5dffb48d2b060d0f5a71096e0","major":1,"minor":2,"txpower":-59}"#,
            " home/hall/BTtoMQTT/1\n" + #"{"rssi":-70,"manufacturerdata":"4c0002"}"#,
            " home/hall/LWT\n" + #"{"online":false}"#,
            " espresense/devices/a/b\n" + #"{"id":"iBeacon:e2c56db5-dffb-48d2-b060-d0f5a71096e0-1-2","rssi":-7.5}"#,
            " a/events/rpc\n"
                + #"{"params":{"events":[{"event":"ble.scan_result","data":[2,[["c0:00:00:00:00:01",-7,"AgEG",""]]]}]}}"#,
            " ruuvi/C8:25:2D:8E:9C:2C/C0:00:00:00:00:01\n" + #"{"rssi":-70,"ts":"1653668027","data":""# + hexadecimal
                + "\"}",
            " x\n" + #"{"msg_id":3070,"device_info":{"mac":"a"},"data":[{"mac":"c00000000001","rssi":-7,"adv_data":""#
                + hexadecimal + "\"}]}",
            " x\n" + #"[{"type":"Gateway","mac":"a"},{"mac":"C00000000001","rssi":-7,"rawData":""# + hexadecimal
                + "\"}]",
            " x\n$GPRP,C00000000001,CCB97E7361A4,-70," + hexadecimal + ",1653668027\r\n$HBRP,a",
            " x\n" + #"{"data":["$1MSR,C00000000001,CCB97E7361A4,-70,0x02 01:06","$GPSR,a,a,-127\r\n$HBRP,a"]}"#,
            " x\n" + #"{"msg_id":3070,"device_info":{"mac":"a"},"data":[{"rssi":-7,"rssi_1m":-59,"uuid":"#
                + #""e2c56db5dffb48d2b060d0f5a71096e0","major":"0001","minor":"0x2"}]}"#,
            " tele/a/SENSOR\n" + #"{"IBEACON":{"MAC":"C00000000001","UID":"E2C56DB5DFFB48D2B060D0F5A71096E0","#
                + #""MAJOR":"0001","MINOR":"0002","RSSI":-62,"STATE":"ON"}}"#,
            "mx/y\n" + #"{"a":[[{"b":"AgEG"},{"b":-7}]]}"#,
            "mx/y\n" + #"{"a":[[{"b":-7,"u":"e2c56db5dffb48d2b060d0f5a71096e0","v":1,"w":"0002","s":"on"}]]}"#,
            " beacon-relay/hall/status\nonline",
        ].map { Array($0.utf8) } + [Array(" beacon-relay/hall/heard\n".utf8) + relayMessage]

    /// A relay's message of one receiver, one period of deafness and one advert.
    private static let relayMessage: [UInt8] =
        Array("bR".utf8) + [1, 1, 2, 3, 4, 0xD0, 0x12, 0x13, 0, 0, 0, 0, 0, 0x90, 0xA1, 0x0F, 1, 5, 4]
        + Array("hci0".utf8) + [1, 1, 0x90, 0xA1, 0x0F, 0xD0, 0x86, 0x03]
        + [1, 0xE2, 0xC5, 0x6D, 0xB5, 0xDF, 0xFB, 0x48, 0xD2, 0xB0, 0x60, 0xD0, 0xF5, 0xA7, 0x10, 0x96, 0xE0]
        + [1, 0, 1, 0, 2, 0, 0xC5, 1, 2, 0, 0, 0, 0, 0xC0, 1, 0, 0, 0xC0, 0x9A, 0x0C, 0xBA]

    /// A device's hello, its scanner's state and an advert, and a device that is announced.
    static let esphome: [[UInt8]] = [
        [255] + [0, 0, 2, 0, 9, 10, 0x12, 1, 0x61, 0x22, 1, 0x31, 0x78, 0x60, 0, 2, 126, 8, 2]
            + [0, 17, 93, 10, 15, 8, 1, 16, 139, 1, 24, 1, 34, 6, 5, 255, 0x4C, 0, 2, 0],
        [3, 1, 0, 3, 1, 0x61, 0, 1, 0, 2, 0, 1],
        // A client's hello, its requests, and its subscription.
        [255] + [0, 3, 1, 10, 1, 0x61, 0, 0, 3, 0, 0, 9, 0, 0, 11, 0, 2, 66, 8, 1, 0, 4, 73, 8, 5, 16, 1],
        [0] + [0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 11] + Array("_esphomelib".utf8) + [4] + Array("_tcp".utf8) + [5]
            + Array("local".utf8) + [0, 0, 12, 0x80, 1],
        [0] + [0, 0, 0x84, 0, 0, 0, 0, 1, 0, 0, 0, 0, 11] + Array("_esphomelib".utf8) + [4] + Array("_tcp".utf8) + [5]
            + Array("local".utf8) + [0, 0, 33, 0, 1, 0, 0, 0, 1, 0, 9, 0, 0, 0, 0, 1, 2, 1, 0x61, 0],
    ]

    // MARK: - Text

    /// Typical pasted texts: digits in several groups, an hcitool command, a dump, a literal, lists of numbers.
    static let pasted: [[UInt8]] = [
        "0x" + hexadecimal,
        "hcitool cmd 0x08 0x0008 1E 02 01 1A 1A FF 4C 00 02 15 E2 C5 6D B5 DF FB 48 D2 B0 60 D0 F5 A7 10 96 E0 00 00 C8 00",
        "Key: 0x004c\nValue:\n  02 15 e2 c5 6d b5 df fb 48 d2 b0 60 d0 f5 a7 10  ....m...H..`....\n  96 e0 00 01 00 02 c5   .......",
        "0000   04 3e 2a 02 01 03 01 02 12 5e 00 00 c0 1e 02 01   .>*......^......\n0010   06 1a ff 4c",
        #"{76: b'\x02\x15\xe2\xc5m\xb5\xdf\xfbH\xd2\xb0`\xd0\xf5\xa7\x10\x96\xe0\x00\x01\x00\x02\xc5'}"#,
        "[2, 21, 226, 197, 109, -75]", "{ 0x02, 0x15, 0xe2 };", "D6BE898E 4224 02125E0000C0 " + hexadecimal,
        "0201060303aafe1516aafe00e700010203040506070809aabbccddeeff", "043E2A02010301021 25E0000C01E" + hexadecimal,
    ].map { Array($0.utf8) }

    static let scenarios = [
        #"""
        {"name": "x", "duration": 2, "seed": 3, "uuid": "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0",
         "environment": {"shadowing": 3, "ricianK": null}, "walls": [{"from": [0, 0], "to": [1, 1], "loss": 3}],
         "people": [{"name": "ann", "repeat": true, "walk": [[0, 0], {"to": [1, 0], "pause": 1}]}],
         "receivers": [{"name": "hci0", "carriedBy": "ann", "gain": 1}],
         "beacons": [{"major": 1, "interval": 0.5, "jitter": 0.01, "position": [1, 2], "on": [[0, 1], [1.5, null]]}],
         "crowds": [{"count": 2, "area": [[0, 0], [3, 3]], "speed": 1, "rotation": 2}]}
        """#
    ].map { Array($0.utf8) }

    static let texts = [
        "e2c56db5-dffb-48d2-b060-d0f5a71096e0", "E2C56DB5DFFB48D2B060D0F5A71096E0",
        "e2c56db5-dffb-48d2-b060-d0f5a71096e0/1", "e2c56db5-dffb-48d2-b060-d0f5a71096e0/65535/0",
        "aa:bb:cc:dd:ee:ff",
    ].map { Array($0.utf8) }
}
