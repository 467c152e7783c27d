public import BeaconModel

/// An iBeacon advert that a user pasted from a tool, a log or an app, in any common form.
///
/// The forms are those of adverts (AD structures, or their manufacturer specific data with or without the company), of
/// HCI (reports, and hcitool's advertising commands), and of the link layer. ``PastedText`` reads the notations of
/// bytes.
public struct PastedAdvert: Sendable, Hashable {
    /// The frame in the advert.
    public let frame: IBeaconFrame

    /// Reads a text.
    ///
    /// - Throws: ``PastedAdvertError``, with the form and the missing parts.
    public init(_ text: String) throws(PastedAdvertError) {
        let pasted = try PastedText(text)
        let form = PastedForm(pasted.bytes, company: pasted.company)
        // After a missing digit, all other digits are shifted, and a frame there has another identity.
        guard pasted.isOdd else {
            guard let frame = form.frame else { throw form.refusal }
            self.frame = frame
            return
        }
        if let padded = pasted.withLeadingZero, let frame = PastedForm(padded, company: pasted.company).frame {
            self.frame = frame
            return
        }
        guard form.frame == nil else {
            throw PastedAdvertError(
                .missingDigit,
                "this has an odd number of hexadecimal digits. One of them is missing, so the identity cannot be read; "
                    + "copy the advert again")
        }
        var refusal = form.refusal
        refusal.message += "; it also has an odd number of hexadecimal digits, so one of them is missing"
        throw refusal
    }
}

/// The form of bytes that hold an advert, recognized by their beginning.
struct PastedForm {
    /// The content after all framing has been removed.
    private enum Content {
        /// AD structures.
        case structures
        /// A company and its data.
        case manufacturerData
        /// The data of a company that the text names.
        case companyData(UInt16)
        /// An HCI event without a complete advertising report.
        case event
        /// A link layer packet that is not an advert.
        case packet
    }

    private let bytes: [UInt8]
    private let content: Content
    /// The range of the content.
    private let range: Range<Int>
    /// The name of the form, as the subject of a sentence.
    private let name: String

    /// Detects the form of bytes.
    ///
    /// - Parameter company: the company that the text names outside of the bytes; nil for none.
    init(_ bytes: [UInt8], company: UInt16? = nil) {
        self.bytes = bytes
        (content, range, name) = Self.find(bytes, company)
    }

    private static func find(_ bytes: [UInt8], _ company: UInt16?) -> (Content, Range<Int>, String) {
        let all = bytes.indices
        let begins = { (prefix: [UInt8]) in bytes.starts(with: prefix) }
        if let company, !hasOwnCompany(bytes, company) {
            return (.companyData(company), all, "this manufacturer specific data")
        }
        // HCI events with or without the packet type before them (Core Specification, Vol 4, Part A, 2).
        if begins([0x04, 0x3E]), bytes.count > 4 { return event(bytes, from: 1) }
        if begins([0x3E]), bytes.count > 3, [0x02, 0x0B, 0x0D].contains(bytes[2]) { return event(bytes, from: 0) }
        if bytes.count >= 4, begins([0xD6, 0xBE, 0x89, 0x8E]) {
            guard let packet = LinkLayerAdvertisement(packet: bytes.span.bytes), packet.count > 0 else {
                return (.packet, all, "this link layer packet")
            }
            return (.structures, packet.offset..<packet.offset + packet.count, "the advert in this link layer packet")
        }
        // Commands that set advertising data or scan response data (Vol 4, Part E, 7.8.7 and 7.8.8): as a packet, and
        // as hcitool's arguments, with group and number first.
        let isData = { (index: Int) in bytes.count > index + 1 && [0x08, 0x09].contains(bytes[index]) }
        if begins([0x01]), isData(1), bytes.count > 4, bytes[2] == 0x20, bytes[3] == 0x20 {
            return counted(bytes, from: 4)
        }
        if begins([0x08, 0x00]), isData(2) { return counted(bytes, from: 3) }
        // The rest of such a command: the length of the data, then its first structure, flags or a frame. An advert
        // could begin with the same bytes, for instance with a list of a dozen services.
        if bytes.count > 3, (0x14...0x1F).contains(bytes[0]),
            bytes[1...].starts(with: [0x02, 0x01]) || bytes[2...].starts(with: [0xFF, 0x4C, 0x00])
        {
            return counted(bytes, from: 0)
        }
        if begins([0xFF, 0x4C, 0x00]) || begins([0xFF]) && hasFrameHead(bytes, at: 3) {
            return (.manufacturerData, 1..<bytes.count, "this manufacturer specific data")
        }
        if begins([0x4C, 0x00]) || hasFrameHead(bytes, at: 2) && (Int(bytes[0]) >= bytes.count || bytes[0] == 0) {
            // nRF Connect shows the company as a number, 0x004C.
            if begins([0x00, 0x4C]) {
                return (.companyData(0x004C), 2..<bytes.count, "this manufacturer specific data")
            }
            return (.manufacturerData, all, "this manufacturer specific data")
        }
        if begins([0x02, 0x15]) { return (.companyData(0x004C), all, "this manufacturer specific data") }
        return (.structures, all, "this advert")
    }

    /// Returns the advert of the first report with a frame in an HCI event, or else of the first report.
    private static func event(_ bytes: [UInt8], from start: Int) -> (Content, Range<Int>, String) {
        let event = Array(bytes[start...])
        var cursor = HCIAdvertisingReportCursor(event: event.span.bytes)
        var first: Range<Int>?
        while let report = cursor.next(in: event.span.bytes) {
            let range = report.offset..<report.offset + report.count
            first = first ?? (start + range.lowerBound..<start + range.upperBound)
            if IBeaconFrame(advert: event.span.bytes.extracting(range)) != nil {
                first = start + range.lowerBound..<start + range.upperBound
                break
            }
        }
        guard let first else { return (.event, start..<bytes.count, "this HCI event") }
        return (.structures, first, "the advert in this HCI event")
    }

    /// Returns the advertising data of a command; `bytes[start]` is its claimed length.
    private static func counted(_ bytes: [UInt8], from start: Int) -> (Content, Range<Int>, String) {
        // A wrong length does not invalidate a frame; the controller also sends all 31 bytes that follow it.
        (.structures, start + 1..<bytes.count, "the advertising data of this hcitool command")
    }

    /// Returns true if the bytes include their company: a complete iBeacon advert, or data that begins with the company
    /// that the text names.
    private static func hasOwnCompany(_ bytes: [UInt8], _ company: UInt16) -> Bool {
        let frame: [UInt8] = [0x1A, 0xFF, 0x4C, 0x00, 0x02, 0x15]
        return bytes.starts(with: frame) || bytes.starts(with: [0x02, 0x01]) && bytes.dropFirst(3).starts(with: frame)
            || company == 0x004C && bytes.starts(with: [0x4C, 0x00, 0x02, 0x15])
    }

    /// Returns true if `02 15` is at `index`, where a frame has it after its company.
    private static func hasFrameHead(_ bytes: [UInt8], at index: Int) -> Bool {
        bytes.count > index + 1 && bytes[index] == 0x02 && bytes[index + 1] == 0x15
    }

    // MARK: - The frame

    /// The frame in the content, if any.
    var frame: IBeaconFrame? {
        let data = bytes[range]
        switch content {
        case .structures: return IBeaconFrame(advert: Array(data).span.bytes) ?? embedded
        case .manufacturerData: return Self.frame(behindType: data)
        case .companyData(let company):
            // The text has only the data, so it must have exactly the frame's length.
            guard data.count == IBeaconFrame.payloadCount - 2 else { return nil }
            return Self.frame(behindType: [UInt8(company & 0xFF), UInt8(company >> 8)] + data)
        case .event, .packet: return nil
        }
    }

    /// Returns the frame of manufacturer specific data, from the company on.
    private static func frame(behindType data: some Collection<UInt8>) -> IBeaconFrame? {
        guard data.count >= IBeaconFrame.payloadCount else { return nil }
        let payload = data.prefix(IBeaconFrame.payloadCount)
        let structure = [UInt8(IBeaconFrame.payloadCount + 1), 0xFF] + payload
        return IBeaconFrame(advert: structure.span.bytes)
    }

    /// The frame after bytes of an unknown form, such as the address that a tool prints before the advert.
    ///
    /// Valid structures from the first byte on are an advert, and a frame inside one of them does not count.
    private var embedded: IBeaconFrame? {
        guard range == bytes.indices, let first = bytes.first, Int(first) >= bytes.count || first == 0,
            let start = Self.structureStart(in: bytes)
        else { return nil }
        return IBeaconFrame(advert: Array(bytes[start...]).span.bytes)
    }

    /// Returns the start of a complete frame's structure.
    private static func structureStart(in bytes: [UInt8]) -> Int? {
        let head: [UInt8] = [UInt8(IBeaconFrame.payloadCount + 1), 0xFF, 0x4C, 0x00, 0x02, 0x15]
        return bytes.indices.first { bytes[$0...].starts(with: head) }
    }

    // MARK: - The reason

    /// The reason why the content has no frame.
    var refusal: PastedAdvertError {
        let data = Array(bytes[range])
        switch content {
        case .structures: return PastedRefusal(subject: name).ofStructures(data)
        case .manufacturerData: return PastedRefusal(subject: name).ofManufacturerData(data)
        case .companyData(let company):
            return PastedRefusal(subject: name).ofManufacturerData([UInt8(company & 0xFF), UInt8(company >> 8)] + data)
        case .event: return PastedRefusal(subject: name).ofEvent(data)
        case .packet:
            return PastedAdvertError(
                .noAdvert, "\(name) is another kind of packet than an advert, or it is cut short")
        }
    }
}
