public import BeaconModel

/// An iBeacon advert that a user pasted: hexadecimal digits, or a dump with offsets or characters.
///
/// The forms are those of adverts (AD structures, or their manufacturer specific data with or without the company) and
/// of HCI (reports, and hcitool's advertising commands).
public struct PastedAdvert: Sendable, Hashable {
    /// The frame in the advert.
    public let frame: IBeaconFrame

    /// Reads a text.
    ///
    /// - Throws: ``PastedAdvertError``, with the form and the missing parts.
    public init(_ text: String) throws(PastedAdvertError) {
        let bytes = try PastedText.bytes(of: text)
        let (content, name) = Self.content(of: bytes)
        switch content {
        case .structures(let range):
            let advert = bytes[range]
            if let frame = IBeaconFrame(advert: Array(advert).span.bytes) ?? Self.embedded(in: advert) {
                self.frame = frame
            } else {
                throw PastedRefusal(subject: name).ofStructures(Array(advert))
            }
        case .manufacturerData(let data):
            guard let frame = Self.frame(of: data) else {
                throw PastedRefusal(subject: name).ofManufacturerData(data)
            }
            self.frame = frame
        case .refused(let error): throw error
        }
    }

    /// The content after all framing has been removed.
    private enum Content {
        case structures(Range<Int>)
        /// A company and its data.
        case manufacturerData([UInt8])
        case refused(PastedAdvertError)
    }

    /// Returns the content of bytes, recognized by their beginning, and the form's name as the subject of a sentence.
    private static func content(of bytes: [UInt8]) -> (Content, String) {
        let all = bytes.indices
        let begins = { (prefix: [UInt8]) in bytes.starts(with: prefix) }
        // HCI events with or without the packet type before them (Core Specification, Vol 4, Part A, 2).
        if begins([0x04, 0x3E]), bytes.count > 4 { return event(bytes, from: 1) }
        if begins([0x3E]), bytes.count > 3, [0x02, 0x0B, 0x0D].contains(bytes[2]) { return event(bytes, from: 0) }
        // Commands that set advertising data or scan response data (Vol 4, Part E, 7.8.7 and 7.8.8): as a packet, and
        // as hcitool's arguments, with group and number first. A wrong length does not invalidate a frame: the
        // controller also sends all 31 bytes that follow it.
        let command = "the advertising data of this hcitool command"
        let isData = { (index: Int) in bytes.count > index + 1 && [0x08, 0x09].contains(bytes[index]) }
        if begins([0x01]), isData(1), bytes.count > 4, bytes[2] == 0x20, bytes[3] == 0x20 {
            return (.structures(5..<bytes.count), command)
        }
        if begins([0x08, 0x00]), isData(2) { return (.structures(4..<bytes.count), command) }
        // The rest of such a command: the length of the data, then its first structure, flags or a frame. An advert
        // could begin with the same bytes, for instance with a list of a dozen services.
        if bytes.count > 3, (0x14...0x1F).contains(bytes[0]),
            bytes[1...].starts(with: [0x02, 0x01]) || bytes[2...].starts(with: [0xFF, 0x4C, 0x00])
        {
            return (.structures(1..<bytes.count), command)
        }
        let data = "this manufacturer specific data"
        let hasFrameHead = { (index: Int) in bytes.dropFirst(index).starts(with: [0x02, 0x15]) }
        if begins([0xFF, 0x4C, 0x00]) || begins([0xFF]) && hasFrameHead(3) {
            return (.manufacturerData(Array(bytes.dropFirst())), data)
        }
        if begins([0x4C, 0x00]) || hasFrameHead(2) && (Int(bytes[0]) >= bytes.count || bytes[0] == 0) {
            return (.manufacturerData(bytes), data)
        }
        // Tools that name the company elsewhere show only its data. Its form is certain only with the exact length.
        if begins([0x02, 0x15]) {
            let whole = [0x4C, 0x00] + bytes
            guard whole.count > IBeaconFrame.payloadCount else { return (.manufacturerData(whole), data) }
            return (.refused(PastedRefusal(subject: data).ofWrongLength), data)
        }
        return (.structures(all), "this advert")
    }

    /// Returns the advert of the first report with a frame in an HCI event, or else of the first report.
    private static func event(_ bytes: [UInt8], from start: Int) -> (Content, String) {
        let event = Array(bytes[start...])
        var cursor = HCIAdvertisingReportCursor(event: event.span.bytes)
        var adverts: [Range<Int>] = []
        while let report = cursor.next(in: event.span.bytes) {
            adverts.append(report.offset..<report.offset + report.count)
        }
        let framed = adverts.first { IBeaconFrame(advert: event.span.bytes.extracting($0)) != nil }
        guard let advert = framed ?? adverts.first else {
            return (.refused(PastedRefusal(subject: "this HCI event").ofEvent(event)), "")
        }
        return (.structures(start + advert.lowerBound..<start + advert.upperBound), "the advert in this HCI event")
    }

    /// Returns the frame of manufacturer specific data, from the company on; bytes may follow, such as Android's zeros.
    private static func frame(of data: [UInt8]) -> IBeaconFrame? {
        guard data.count >= IBeaconFrame.payloadCount else { return nil }
        let structure = [UInt8(IBeaconFrame.payloadCount + 1), 0xFF] + data.prefix(IBeaconFrame.payloadCount)
        return IBeaconFrame(advert: structure.span.bytes)
    }

    /// Returns the frame after bytes of an unknown form, such as the address that a tool prints before the advert.
    ///
    /// Valid structures from the first byte on are an advert, and a frame inside one of them does not count.
    private static func embedded(in advert: ArraySlice<UInt8>) -> IBeaconFrame? {
        let head: [UInt8] = [UInt8(IBeaconFrame.payloadCount + 1), 0xFF, 0x4C, 0x00, 0x02, 0x15]
        guard let first = advert.first, Int(first) >= advert.count || first == 0,
            let start = advert.indices.first(where: { advert[$0...].starts(with: head) })
        else { return nil }
        return IBeaconFrame(advert: Array(advert[start...]).span.bytes)
    }
}
