import BeaconModel

/// A file format that is often mistaken for a capture, and the remedy.
///
/// Some of these formats hold no adverts. The others hold them in a form that the readers do not support.
struct OtherFormat {
    /// The format and the remedy, in one or two sentences.
    let message: String

    /// The offset at which the format was recognized, in bytes.
    var offset = 0

    /// The error with this message.
    var error: CaptureError { CaptureError(.otherFormat, message, offset: offset) }

    private static let recording =
        "Record again with 'btmon -w FILE', 'hcidump -R > FILE' or 'beacon record FILE', and read that"

    /// The first words of packets in the output of hcidump and btmon.
    private static let packetWords = [
        "HCI Event", "HCI Command", "ACL data", "ACL Data", "SCO data", "SCO Data", "ISO Data",
    ]

    /// Detects the format of content that is not a capture; nil if it is unknown.
    init?(_ stream: borrowing ByteStream) {
        let head = stream.buffer[stream.start..<stream.end].prefix(4096)
        guard let message = Self.packed(head) ?? Self.text(head) else { return nil }
        self.message = message
    }

    /// Detects the format of a text line that begins a packet, after its direction; nil for the bytes of a packet.
    ///
    /// hcidump without `-R` and btmon print the meaning of a packet instead of its bytes.
    init?(packetLine line: ArraySlice<UInt8>, offset: Int) {
        let words = line.drop { $0 == UInt8(ascii: " ") }
        guard Self.packetWords.contains(where: { words.starts(with: $0.utf8) }) else { return nil }
        let text = String(decoding: words.prefix(200), as: UTF8.self)
        // btmon numbers its packets and names the controller.
        message = text.contains("[hci") || text.contains(" #") ? Self.btmon : Self.hcidump
        self.offset = offset
    }

    // MARK: - Packed files

    private static func packed(_ head: ArraySlice<UInt8>) -> String? {
        let tools: [([UInt8], String, String)] = [
            ([0xFD, 0x37, 0x7A, 0x58, 0x5A, 0x00], "xz", "xz -dc"), ([0x28, 0xB5, 0x2F, 0xFD], "zstd", "zstd -dc"),
            (Array("BZh".utf8), "bzip2", "bzip2 -dc"), ([0x04, 0x22, 0x4D, 0x18], "lz4", "lz4 -dc"),
        ]
        for (magic, name, command) in tools where head.starts(with: magic) {
            return
                "this is compressed with \(name), but only gzip is supported. Unpack it: '\(command) FILE | beacon … "
                + "--source -'"
        }
        if head.starts(with: "PK\u{3}\u{4}".utf8) {
            return "this is a ZIP archive. Unpack it and read the capture in it; in a bug report of Android that is "
                + "FS/data/misc/bluetooth/logs/btsnoop_hci.log"
        }
        let magic = head.dropFirst(257)
        if magic.starts(with: "ustar".utf8) {
            return
                "this is a tar archive. Unpack it and read the capture in it; in a sysdiagnose of an iPhone that is a "
                + ".pklg file in logs/Bluetooth"
        }
        return nil
    }

    // MARK: - Text

    private static let btmon =
        "this is btmon's readable output, without the packets' bytes. \(recording)"
    private static let hcidump =
        "this is hcidump's readable output, without the packets' bytes. \(recording)"

    private static func text(_ head: ArraySlice<UInt8>) -> String? {
        if head.starts(with: [0xFF, 0xFE]) || head.starts(with: [0xFE, 0xFF]) {
            return
                "this is UTF-16 text, for instance from a redirection in PowerShell. Convert it: "
                + "'iconv -f UTF-16 -t UTF-8 FILE | beacon … --source -'"
        }
        let text = String(decoding: head.drop { $0 <= 0x20 }, as: UTF8.self)
        let begins = { (words: [String]) in words.contains { text.hasPrefix($0) } }
        if begins(["Bluetooth monitor ver", "= Note: ", "= New Index", "= Open Index", "@ MGMT", "@ RAW"]) {
            return btmon
        }
        if begins(["--- BEGIN:BTSNOOP_LOG_SUMMARY"]) || text.contains("BEGIN:BTSNOOP_LOG_SUMMARY") {
            return
                "this is a bug report of Android with its packed log. Unpack it with btsnooz.py of Android's sources, "
                + "and read the btsnoop file that it writes"
        }
        if begins(["TIME         FROM"]) {
            return
                "this is the table of 'beacon scan'. Record with 'beacon scan --json > FILE' or 'beacon record "
                + "FILE', and read that"
        }
        if begins(["version https://git-lfs"]) {
            return "this is a Git LFS pointer, not the file itself; fetch the file with 'git lfs pull'"
        }
        if begins(["<?xml", "<pdml", "<!DOCTYPE", "<!doctype", "<html", "<HTML"]) {
            return text.contains("<pdml")
                ? exported("PDML")
                : "this is a web page or a document (XML or HTML), not a capture. Download the capture itself"
        }
        if begins(["[NEW] ", "[CHG] ", "[DEL] ", "Discovery started", "SetDiscoveryFilter"])
            || text.prefix(200).contains("[bluetooth]") || text.prefix(200).contains("Agent registered")
        {
            return
                "this is bluetoothctl's output, without the times of adverts. Record with 'beacon record "
                + "FILE' or 'btmon -w FILE', and read that; 'beacon decode' reads the bytes of a ManufacturerData.Value"
        }
        if begins(["["]), text.dropFirst().first(where: { !$0.isWhitespace }) == "{" {
            guard !text.contains("\"_source\"") else { return exported("JSON") }
            return
                "this is a single JSON list, but a sighting log has one object per line. Each needs \"uuid\", "
                + "\"major\", \"minor\" and \"rssi\". Convert it: jq -c '.[]' FILE | beacon … --source -"
        }
        if begins(["No.     Time", "Frame 1:"]) { return exported("text") }
        if begins(["nRF Connect", "nRF Logger"]) {
            return
                "this is a log of nRF Connect, which has no adverts with times. Record with 'beacon record FILE', "
                + "or with Android's Bluetooth HCI snoop log"
        }
        let line = text.prefix { !$0.isNewline }
        return messages(line) ?? table(line) ?? adverts(line)
    }

    /// Returns the message for a gateway's messages in mosquitto_sub's output: an Ingics line, or a topic and JSON.
    private static func messages(_ line: Substring) -> String? {
        let words = line.split(separator: " ", maxSplits: 1)
        guard let last = words.last else { return nil }
        let topic = words.count == 2 ? words[0] : ""
        let isMessage = last.hasPrefix("{") || last.hasPrefix("[{")
        let isLine = last.first == "$" && last.prefix(6).last == ","
        guard topic.contains("/") && isMessage || isLine else { return nil }
        return
            "these are messages of a gateway, not a capture. Read them from their broker with '--source mqtt://HOST', "
            + "and record with 'beacon record FILE --source mqtt://HOST'"
    }

    private static func exported(_ form: String) -> String {
        "this is an export of Wireshark as \(form). Save the packets as pcapng instead: 'tshark -r CAPTURE -w FILE'"
    }

    /// Returns the message for a table whose first line is `heading`; nil for other text.
    private static func table(_ heading: Substring) -> String? {
        for separator in [",", ";", "\t"] as [Character] {
            let columns = heading.split(separator: separator, omittingEmptySubsequences: false)
            guard columns.count >= 3 else { continue }
            let names = columns.map { $0.filter { $0 != "\"" }.lowercased() }
            let known = [
                "uuid", "rssi", "mac", "address", "major", "minor", "time", "name", "device", "data", "signal",
            ]
            let isHeading = names.count { name in known.contains { name.contains($0) } } >= 2
            let isRow = names.contains { name in
                name.utf8.count >= 17
                    && name.utf8.allSatisfy { Hexadecimal.value(of: $0) != nil || $0 == 0x3A || $0 == 0x2D }
            }
            guard isHeading || isRow else { continue }
            return
                "this is a table (CSV) from an app, not a capture. Record with 'beacon record FILE', or write "
                + "each row as a line of JSON, a sighting log: {\"time\":1700000000.0,\"uuid\":\"…\",\"major\":1,"
                + "\"minor\":2,\"rssi\":-60}"
        }
        return nil
    }

    /// Returns the message for lines of adverts in hexadecimal digits; nil for other text.
    private static func adverts(_ line: Substring) -> String? {
        // A line of hcidump has a direction before its bytes; a line truncated there has only a date.
        guard line.utf8.count >= 20, !line.contains(">"), !line.contains("<") else { return nil }
        do throws(PastedAdvertError) {
            _ = try PastedAdvert(String(line))
        } catch {
            guard [.cutShort, .wrongLength, .otherCompany, .otherBeacon].contains(error.code) else {
                return nil
            }
        }
        return "this is an advert in hexadecimal digits, not a capture; 'beacon decode' reads such lines one by one"
    }
}
