import BeaconCapture
import BeaconModel
import Testing

@Suite("Pasted adverts")
struct PastedAdvertTests {
    private static let uuid = "E2C56DB5DFFB48D2B060D0F5A71096E0"

    /// The frame of most texts here: major 1, minor 2, -59 dBm at 1 m.
    private static let usual = "e2c56db5-dffb-48d2-b060-d0f5a71096e0 1/2 -59"

    private func read(_ text: String) throws(PastedAdvertError) -> String {
        let frame = try PastedAdvert(text).frame
        return "\(frame.identity.uuid) \(frame.identity.major)/\(frame.identity.minor) \(frame.measuredPower)"
    }

    @Test(
        "An advert is read in the output format of common tools",
        arguments: [
            // nRF Connect: the raw advert.
            ("0x0201061AFF4C000215E2C56DB5DFFB48D2B060D0F5A71096E000010002C5", usual),
            // Android's scan record, 62 bytes with zeros.
            (
                "02011a1aff4c000215e2c56db5dffb48d2b060d0f5a71096e0" + String(repeating: "0", count: 74),
                "e2c56db5-dffb-48d2-b060-d0f5a71096e0 0/0 0"
            ),
            ("4c000215e2c56db5dffb48d2b060d0f5a71096e000010002c5", usual),
            // hcitool: the length of the data, and a byte after the frame.
            (
                "1E 02 01 1A 1A FF 4C 00 02 15 E2 C5 6D B5 DF FB 48 D2 B0 60 D0 F5 A7 10 96 E0 00 00 00 00 C8 00",
                "e2c56db5-dffb-48d2-b060-d0f5a71096e0 0/0 -56"
            ),
            (
                "0x08 0x0008 1E 02 01 1A 1A FF 4C 00 02 15 E2 C5 6D B5 DF FB 48 D2 B0 60 D0 F5 A7 10 96 E0 00 00 00 00 "
                    + "C5 00", "e2c56db5-dffb-48d2-b060-d0f5a71096e0 0/0 -59"
            ),
            (
                "sudo hcitool -i hci0 cmd 0x08 0x0008 1E 02 01 06 1A FF 4C 00 02 15 E2 C5 6D B5 DF FB 48 D2 B0 60 D0 F5 A7 "
                    + "10 96 E0 00 01 00 02 C5 00", usual
            ),
            ("01 08 20 20 1E 02 01 06 1A FF 4C 00 02 15 \(uuid) 00 01 00 02 C5 00", usual),
            // bluetoothctl: the value.
            ("02 15 e2 c5 6d b5 df fb 48 d2 b0 60 d0 f5 a7 10 96 e0 00 01 00 02 c5", usual),
            // Core Bluetooth's data, and bytes in other groups.
            ("<4c000215 e2c56db5 dffb48d2 b060d0f5 a71096e0 00010002 c5>", usual),
            ("FF4C000215\(uuid)00010002C5", usual),
            ("1AFF4C000215\(uuid)00010002C5", usual),
            // HCI: an event, and lines of hcidump and of Wireshark.
            ("3E2A0201030102125E0000C01E0201061AFF4C000215\(uuid)00010002C5B9", usual),
            (
                """
                > 04 3E 2A 02 01 03 01 02 12 5E 00 00 C0 1E 02 01 06 1A FF 4C
                  00 02 15 E2 C5 6D B5 DF FB 48 D2 B0 60 D0 F5 A7 10 96 E0 00
                  01 00 02 C5 B9
                """, usual
            ),
            (
                """
                0000   04 3e 2a 02 01 03 01 02 12 5e 00 00 c0 1e 02 01   .>*......^......
                0010   06 1a ff 4c 00 02 15 e2 c5 6d b5 df fb 48 d2 b0   ...L.....m...H..
                0020   60 d0 f5 a7 10 96 e0 00 01 00 02 c5 b9            `............
                """, usual
            ),
            (
                """
                00000000: 4c00 0215 e2c5 6db5 dffb 48d2 b060 d0f5  L.....m...H..`..
                00000010: a710 96e0 0001 0002 c5                   .........
                """, usual
            ),
            (
                """
                00000000  4c 00 02 15 e2 c5 6d b5  df fb 48 d2 b0 60 d0 f5  |L.....m...H..`..|
                00000010  a7 10 96 e0 00 01 00 02  c5                       |.........|
                00000019
                """, usual
            ),
            // A sniffer's packet, and an address that a tool put before the advert.
            ("D6BE898E 4224 02125E0000C0 0201061AFF4C000215\(uuid)00010002C5 010203", usual),
            ("C000005E1202 0201061AFF4C000215\(uuid)00010002C5", usual),
        ] as [(String, String)])
    func forms(text: String, frame: String) throws { #expect(try read(text) == frame) }

    @Test(
        "The error for other data names its form and the missing parts",
        arguments: [
            (
                "0x02010615FF4C000215E2C56DB5DFFB48D2B060D0F5A71096E0", PastedAdvertError.Code.cutShort,
                "5 bytes are missing, from the major value on"
            ),
            (
                "02011a1aff4c000215e2c56db5dffb48d2b060d0f5a71096e000010002", .cutShort,
                "1 byte is missing, from the measured power on"
            ),
            ("02 15 e2 c5", .cutShort, "19 bytes are missing, from the UUID on"),
            ("0201061aff4c000215e2c56d", .cutShort, "18 bytes are missing, from the UUID on"),
            ("1E 02 01 06 1A FF 4C 00 02 15 E2", .cutShort, "hcitool command has an iBeacon frame that is cut short"),
            (
                "04 3E 2A 02 01 03 01 02 12 5E 00 00 C0 1E 02 01", .cutShort,
                "HCI event is cut short: 29 bytes are missing"
            ),
            ("4c0002", .cutShort, "22 bytes are missing, from the kind (02 15) on"),
            ("4c00", .cutShort, "23 bytes are missing"),
            (
                "0x0201041AFF590002150112233445566778899AABBCCDDEEFF001020304C3", .otherCompany,
                "0x0059 (Nordic Semiconductor)"
            ),
            (
                "590002150112233445566778899AABBCCDDEEFF001020304C3", .otherCompany,
                "0x0059 (Nordic Semiconductor)"
            ),
            ("02010605ff99040102", .otherCompany, "0x0499 (Ruuvi)"),
            ("0201061aff004c0215\(uuid)00010002c5", .otherCompany, "4C 00 on the air"),
            (
                "02011a1bff1801beac2f234454cf6d4a0fadf2f4911ba9ffa600010002c509", .otherBeacon,
                "AltBeacon of company 0x0118"
            ),
            ("0201060303aafe1516aafe00e700010203040506070809aabbccddeeff", .otherBeacon, "Eddystone"),
            ("0201060303aafe0a16aafe10eb0167690061", .otherBeacon, "Eddystone"),
            (
                "02011a020a0c0aff4c001005441cbd08c5", .otherBeacon,
                "Apple's, but not an iBeacon (02 15)"
            ),
            ("4c0012020000", .otherBeacon, "Find My"),
            ("0201061bff4c000215\(uuid)00010002c5", .wrongLength, "23 bytes"),
            ("02010615ff4c000215\(uuid)00010002c5", .wrongLength, "23 bytes"),
            ("4c000216\(uuid)00010002c5", .wrongLength, "23 bytes"),
            ("0201060303d2fc0516d2fc4000", .noManufacturerData, "type FF"),
            ("020106", .noManufacturerData, "no manufacturer specific data"),
            ("e2c56db5-dffb-48d2-b060-d0f5a71096e0", .identityOnly, "may be a UUID"),
            ("\(uuid)00010002C5", .identityOnly, "put 02 15 before"),
            ("04 3E 0A 03 00 40 00 06 00 00 00 2A 00", .noAdvert, "02, 0B or 0D"),
            ("9901", .unknownForm, "claims 153 bytes while 1 follow"),
            ("AgEGGv9MAAIV4sVttd/7SNKwYND1pxCW4AABAALF", .notHexadecimal, "Base64"),
            ("TAACFeLFbbXf+0jSsGDQ9acQluAAAQACxQ==", .notHexadecimal, "Base64"),
            ("value=TAACFeLFbbXf+0jSsGDQ9acQluAAAQACxQ==", .notHexadecimal, "paste only the bytes"),
            (
                "{length = 25, bytes = 0x4c000215 e2c56db5 dffb48d2 b060d0f5 ... 00010002 c5 }", .cutShort,
                "bytes are omitted"
            ),
            ("4c 00 02 15 e2 c5 6d … 00 01 00 02 c5", .cutShort, "bytes are omitted"),
            (#"{"mac":"C00000000001","rawData":"0201061AFF4C000215","rssi":-60}"#, .notHexadecimal, "this is JSON"),
            ("e2c56db5-dffb-48d2-b060-d0f5a71096e0/1/2", .identityOnly, "UUID/MAJOR/MINOR"),
            (
                """
                [CHG] Device C0:00:00:5E:12:01 ManufacturerData Key: 0x004c
                [CHG] Device C0:00:00:5E:12:01 ManufacturerData Value:
                  02 15 e2 c5 6d b5 df fb 48 d2 b0 60 d0 f5 a7 10  ....m...H..`....
                  96 e0 00 01 00 02 c5                             .......
                """, .notHexadecimal, "paste only the bytes"
            ),
            ("Company: Apple, Inc. <0x004C> 0x0215\(uuid)00010002C5", .notHexadecimal, "their company is Apple"),
            (
                "Adv data: 02.01.06.1A.FF.4C.00.02.15.E2.C5.6D.B5.DF.FB.48.D2.B0.60.D0.F5.A7.10.96.E0.00.01.00.02.C5 (30)",
                .notHexadecimal, "ESPHome"
            ),
            (#"{76: b'\x02\x15\xe2\xc5m\xb5'}"#, .notHexadecimal, "data.hex()"),
            (#""\x4C\x00\x02\x15" "\xe2\xc5m""#, .notHexadecimal, "data.hex()"),
            ("b'0215e2c56db5'", .notHexadecimal, "data.hex()"),
            ("[2, 1, 6, 26, 255, 76, 0, 2, 21, 226, 197, 109]", .notHexadecimal, "decimal"),
            ("Uint8Array(23) [2, 21, 226, 197]", .notHexadecimal, "decimal"),
            ("new byte[] {2, 21, -30, -59, 109, -75}", .notHexadecimal, "decimal"),
            ("2 1 6 1A FF 4C 0 2 15 E2 C5", .missingDigit, "half a byte"),
            ("0201zz", .notHexadecimal, #""0201zz" is not a hexadecimal byte"#),
            ("0201 £", .notHexadecimal, "a part of the text"),
            ("02010", .missingDigit, "odd number"),
            ("-", .noBytes, "no bytes"), ("", .noBytes, "no bytes"),
            ("[]", .noBytes, "no bytes"),
        ] as [(String, PastedAdvertError.Code, String)])
    func refusals(text: String, code: PastedAdvertError.Code, reason: String) {
        do throws(PastedAdvertError) {
            Issue.record("\(try read(text)) was read")
        } catch {
            #expect(error.code == code, "\(error)")
            #expect(error.message.contains(reason), "\(error)")
        }
    }

    @Test("Each notation of bytes gives the same frame, and each truncated one names the missing parts")
    func spellings() throws {
        // 21 bytes from 60 on; a list without a letter would be one of decimal numbers.
        let payload = (0xA0..<0xB5).map { String($0, radix: 16) }
        let digits: [String] = ["4c", "00", "02", "15"] + payload
        // The text before the bytes, before each byte, between two and after them.
        let spellings: [(String, String, String, String)] = [
            ("", "", "", ""), ("", "", " ", ""), ("", "", ":", ""), ("", "", "-", ""), ("", "0x", ", ", ""),
            ("{", "0x", ",", "}"), ("[", "", ", ", "]"),
            ("", "", "\n", "\n"), ("\u{FEFF}", "", "\u{A0}", ""), ("", "", "–", ""), ("0x", "", "", ""),
        ]
        func spell(_ bytes: [String], _ spelling: (String, String, String, String)) -> String {
            spelling.0 + bytes.map { spelling.1 + $0 }.joined(separator: spelling.2) + spelling.3
        }
        let prefixes: [[String]] = [
            [], ["FF"], ["1A", "FF"], ["02", "01", "06", "1A", "FF"], ["1E", "02", "01", "06", "1A", "FF"],
            ["08", "00", "08", "1E", "02", "01", "06", "1A", "FF"],
        ]
        for prefix in prefixes {
            for (number, spelling) in spellings.enumerated() {
                let whole = prefix + digits
                let read = try PastedAdvert(spell(whole, spelling)).frame
                #expect(read.identity.major == 0xB0B1, "\(prefix) \(number)")
                for missing in 1..<21 {
                    do throws(PastedAdvertError) {
                        _ = try PastedAdvert(spell(whole.dropLast(missing), spelling))
                        Issue.record("\(prefix) \(number) without \(missing) bytes was read")
                    } catch {
                        #expect(error.code == .cutShort, "\(prefix) \(number): \(error)")
                        #expect(error.message.contains("\(missing) byte"), "\(prefix) \(number): \(error)")
                    }
                }
            }
        }
    }

    @Test("A text without one digit is refused or gives the same identity, in each form", arguments: LostDigits.forms)
    func lostDigit(text: String) throws {
        let whole = try PastedAdvert(text).frame.identity
        for place in text.indices where text[place].isHexDigit {
            var damaged = text
            damaged.remove(at: place)
            guard let identity = (try? PastedAdvert(damaged))?.frame.identity else { continue }
            #expect(identity == whole, "\(damaged)")
        }
    }

    @Test(
        "The error names a missing digit",
        arguments: [
            ("02 15 e2 c 6d b5 df fb 48", PastedAdvertError.Code.missingDigit, #""c" is half a byte"#),
            ("0201061AFF4C000215\(uuid.dropLast())00010002C5C5", .missingDigit, "odd number of hexadecimal digits"),
            ("0000  4c 00 02 15 e2 c\n0010  a7 10 96 e0 00 01 00 02 c5", .missingDigit, "after 0 bytes"),
            ("0020  1a ff 4c 00 02 15 e2 c5\n0030  a7 10 96 e0 00 01", .missingDigit, "after 8 bytes"),
            ("02 15 \(uuid) 00 01 00 02 c5 00", .wrongLength, "23 bytes"),
        ] as [(String, PastedAdvertError.Code, String)])
    func damage(text: String, code: PastedAdvertError.Code, reason: String) {
        refusals(text: text, code: code, reason: reason)
    }

    @Test("No pasted text traps, and each refusal is a sentence", arguments: 0..<4)
    func mutations(seed: UInt64) {
        var random = Mutations(state: seed &* 0x9E37_79B9_7F4A_7C15 | 1)
        let starts = [
            "0x08 0x0008 1E 02 01 1A 1A FF 4C 00 02 15 \(Self.uuid) 00 00 00 00 C5 00",
            "043E2A0201030102125E0000C01E0201061AFF4C000215\(Self.uuid)00010002C5B9",
            #"{76: b'\x02\x15\xe2\xc5m\xb5\xdf\xfbH\xd2\xb0`\xd0\xf5\xa7\x10\x96\xe0\x00\x01\x00\x02\xc5'}"#,
            "[2, 21, 226, 197, 109, -75, 223, 251, 72, 210]",
            "0000   04 3e 2a 02 01 03 01 02 12 5e 00 00 c0 1e 02 01   .>*......^......\n0010   06 1a ff",
            "ManufacturerData Key: 0x004c\nValue:\n  02 15 e2 c5 6d b5 df fb 48 d2 b0 60 d0 f5 a7 10  ....m...H..`....",
            "D6BE898E 4224 02125E0000C0 0201061AFF4C000215\(Self.uuid)00010002C5 010203",
            "0201060303aafe1516aafe00e700010203040506070809aabbccddeeff",
        ]
        for _ in 0..<4000 {
            let text = random.mutated(starts[random.number(below: starts.count)])
            do throws(PastedAdvertError) {
                let frame = try PastedAdvert(text).frame
                let digits = frame.advert.map { String($0, radix: 16) }
                let again = try PastedAdvert(digits.joined(separator: " ")).frame
                #expect(again == frame)
            } catch {
                #expect(error.message.count > 20 && !error.message.contains("\n"), "\(text): \(error)")
            }
        }
    }
}

/// Texts for lost digits: the same frame in the forms in which tools pad their bytes.
private enum LostDigits {
    private static let uuid = "e2c56db5dffb48d2b060d0f5a71096e0"
    private static let bytes: [String] = pairs("0201061aff4c000215\(uuid)00010002c5")
    private static let data: [String] = Array(bytes[7...])

    private static func pairs(_ digits: String) -> [String] {
        let digits = Array(digits)
        return stride(from: 0, to: digits.count, by: 2).map { String(digits[$0...$0 + 1]) }
    }

    /// Returns a dump with lines of sixteen bytes and offsets of `digits` digits, from `base` on.
    private static func dump(_ bytes: [String], digits: Int, base: Int = 0, gap: String = " ", marks: String) -> String
    {
        var lines: [String] = []
        for start in stride(from: 0, to: bytes.count, by: 16) {
            let row = bytes[start..<min(start + 16, bytes.count)]
            let offset = String(base + start, radix: 16)
            let columns = row.prefix(8).joined(separator: " ") + gap + row.dropFirst(8).joined(separator: " ")
            let characters = row.map { byte -> String in
                let value = UInt8(byte, radix: 16) ?? 0
                return (0x21...0x7E).contains(value) ? String(UnicodeScalar(value)) : "."
            }
            let number = digits == 0 ? "" : String(repeating: "0", count: digits - offset.count) + offset + "  "
            lines.append(number + columns + (marks.isEmpty ? "" : "  " + marks + characters.joined() + marks))
        }
        return lines.joined(separator: "\n")
    }

    static let forms: [String] = {
        let zeros = [String](repeating: "00", count: 32)
        let command = ["1e"] + bytes + ["00"]
        var forms: [String] = []
        for bytes in [
            bytes, bytes + zeros, Array(bytes[3...]), Array(bytes[5...]), Array(bytes[5...]) + zeros, data, command,
        ] {
            forms += [" ", "", ":", "\n"].map { bytes.joined(separator: $0) }
            forms.append("0x" + bytes.joined())
            forms.append("{" + bytes.map { "0x" + $0 }.joined(separator: ", ") + "}")
            for gap in [" ", "  "] {
                for marks in ["", "|"] {
                    forms += [4, 8].map { dump(bytes, digits: $0, gap: gap, marks: marks) }
                }
            }
        }
        // A part of a longer dump.
        forms.append(dump(["00", "00"] + bytes[3...] + zeros, digits: 4, base: 0x20, marks: ""))
        forms.append("sudo hcitool -i hci0 cmd 0x08 0x0008 " + command.joined(separator: " "))
        forms.append("> 04 3E 2A 02 01 03 01 02 12 5E 00 00 C0 1E " + bytes.joined(separator: " ") + " B9")
        return forms
    }()
}

/// Random changes of a text, the same for the same seed.
private struct Mutations {
    var state: UInt64

    mutating func number(below bound: Int) -> Int {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return Int(state % UInt64(bound))
    }

    mutating func mutated(_ text: String) -> String {
        var characters = Array(text)
        let pieces = Array("0123456789abcdefFx \\'\"[]{}(),:;-=.\n\t\u{A0}ßb<>|KeyValue: ")
        for _ in 0...number(below: 6) where !characters.isEmpty {
            let place = number(below: characters.count)
            switch number(below: 5) {
            case 0: characters.remove(at: place)
            case 1: characters[place] = pieces[number(below: pieces.count)]
            case 2: characters.insert(pieces[number(below: pieces.count)], at: place)
            case 3: characters.removeSubrange(place...)
            default: characters.insert(contentsOf: characters[place...].prefix(8), at: number(below: characters.count))
            }
        }
        return String(characters)
    }
}
