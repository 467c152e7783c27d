import BeaconModel

/// The reasons why bytes of a known form have no iBeacon frame.
struct PastedRefusal {
    /// The name of the form, as the subject of a sentence.
    let subject: String

    // MARK: - HCI

    /// Returns the reason for an LE meta event, from its code on, without a complete report.
    func ofEvent(_ event: [UInt8]) -> PastedAdvertError {
        let claimed = Int(event[1])
        let present = event.count - 2
        if present < claimed {
            return PastedAdvertError(
                .cutShort,
                "\(subject) is cut short: it claims \(claimed) bytes after its length, and \(claimed - present) of "
                    + "them are missing")
        }
        return PastedAdvertError(
            .noAdvert,
            "\(subject) is not an advertising report; these have the subevent 02, 0B or 0D, but this one has "
                + Self.hexadecimal(event[2]))
    }

    // MARK: - AD structures

    /// Returns the reason for AD structures.
    func ofStructures(_ advert: [UInt8]) -> PastedAdvertError {
        var cursor = AdvertisingStructureCursor()
        var end = 0
        var other: PastedAdvertError?
        while let structure = cursor.next(in: advert.span.bytes) {
            end = structure.offset + structure.count
            let data = Array(advert[structure.offset..<end])
            switch structure.type {
            case AdvertisingStructure.manufacturerSpecificData:
                let reason = ofManufacturerData(data, following: advert.count - structure.offset)
                // If there is data of Apple and of another company, the first is the relevant one.
                if data.starts(with: [0x4C, 0x00]) { return reason }
                other = other ?? reason
            case 0x16: other = other ?? ofServiceData(data)
            default: break
            }
        }
        if end < advert.count, advert[end] != 0 {
            return ofCutStructure(Array(advert[end...]), at: end) ?? ofIdentity(advert) ?? other
                ?? unknown(advert, at: end)
        }
        return other
            ?? PastedAdvertError(
                .noManufacturerData,
                "\(subject) has no manufacturer specific data (type FF), which iBeacon frames require")
    }

    /// Returns the reason for a structure that claims more bytes than there are; nil if its type is not helpful.
    private func ofCutStructure(_ bytes: [UInt8], at offset: Int) -> PastedAdvertError? {
        guard bytes.count > 1, bytes[1] == AdvertisingStructure.manufacturerSpecificData else { return nil }
        let data = Array(bytes.dropFirst(2))
        guard data.starts(with: [0x4C, 0x00, 0x02, 0x15]), data.count >= IBeaconFrame.payloadCount else {
            return ofManufacturerData(data)
        }
        return PastedAdvertError(
            .wrongLength,
            "\(subject) has an iBeacon frame whose length byte, at byte \(offset), claims \(bytes[0]) bytes while "
                + "\(bytes.count - 1) follow; an iBeacon's is 1A (26)")
    }

    private func unknown(_ bytes: [UInt8], at offset: Int) -> PastedAdvertError {
        PastedAdvertError(
            .unknownForm,
            "\(subject) has an unknown form: as AD structures, the one at byte \(offset) claims "
                + "\(bytes[offset]) bytes while \(bytes.count - offset - 1) follow. Paste the advert from its "
                + "flags (02 01) on, or from 4C 00 02 15 on")
    }

    /// Returns the reason for an identity without a frame; nil for anything else.
    private func ofIdentity(_ bytes: [UInt8]) -> PastedAdvertError? {
        // If the first byte is a length that ends inside the bytes, they are AD structures.
        guard [16, 20, 21].contains(bytes.count), Int(bytes[0]) >= bytes.count else { return nil }
        let parts =
            switch bytes.count {
            case 16: "a UUID, without the major value, the minor value and the measured power"
            case 20: "a UUID with a major and a minor value, without the measured power"
            default: "a UUID with a major value, a minor value and a measured power, as an app advertises them"
            }
        return PastedAdvertError(
            .identityOnly,
            "these \(bytes.count) bytes may be \(parts). An iBeacon frame has 02 15 before its UUID and 21 bytes "
                + "after it; put 02 15 before your bytes")
    }

    // MARK: - Manufacturer specific data

    /// Returns the reason for manufacturer specific data, from the company on.
    ///
    /// - Parameter following: the number of bytes from the company to the end of the advert, if the data claims to end
    ///   earlier; nil for its own.
    func ofManufacturerData(_ data: [UInt8], following: Int? = nil) -> PastedAdvertError {
        guard data.count >= 2 else {
            return PastedAdvertError(.cutShort, "\(subject) is cut short: it ends inside the company")
        }
        let company = UInt16(data[0]) | UInt16(data[1]) << 8
        let kind = data.dropFirst(2)
        if kind.starts(with: [0xBE, 0xAC]) {
            return PastedAdvertError(
                .otherBeacon, "\(subject) is an AltBeacon of company \(Self.name(company)), not an iBeacon")
        }
        guard company == 0x004C else { return ofOtherCompany(company, Array(kind)) }
        guard let first = kind.first else {
            return PastedAdvertError(.cutShort, "\(subject) is cut short: it ends after Apple's company, 4C 00")
        }
        guard first == 0x02 else {
            return PastedAdvertError(
                .otherBeacon,
                "\(subject) is Apple's, but of another kind than iBeacon (02 15): "
                    + Self.hexadecimal(first)
                    + (Self.kinds[first].map { ", \($0)" } ?? ""))
        }
        guard data.count > 3 else { return cutShort(data.count) }
        guard data[3] == 0x15 else {
            return PastedAdvertError(
                .wrongLength,
                "\(subject) has the kind 02 of an iBeacon, but its length byte is \(data[3]) instead of 21"
            )
        }
        guard data.count <= IBeaconFrame.payloadCount || following != nil else {
            let surplus = data.count - IBeaconFrame.payloadCount
            return PastedAdvertError(
                .wrongLength,
                "\(subject) is \(surplus) byte\(surplus == 1 ? "" : "s") longer than an iBeacon frame, which has "
                    + "23 bytes from 02 15 on")
        }
        guard data.count < IBeaconFrame.payloadCount, following ?? 0 < IBeaconFrame.payloadCount else {
            return PastedAdvertError(
                .wrongLength,
                "\(subject) has an iBeacon frame whose length byte ends it after \(data.count + 1) bytes; an "
                    + "iBeacon's is 1A (26)")
        }
        return cutShort(data.count)
    }

    /// Returns the reason for an iBeacon frame that ends after `count` bytes from the company on.
    private func cutShort(_ count: Int) -> PastedAdvertError {
        let parts = [
            (4, "the kind (02 15)"), (20, "the UUID"), (22, "the major value"), (24, "the minor value"),
            (IBeaconFrame.payloadCount, "the measured power"),
        ]
        var missing: [String] = []
        var start = 2
        for (end, part) in parts {
            if count < end { missing.append(count > start ? "the end of \(part)" : part) }
            start = end
        }
        let last = missing.popLast() ?? ""
        let list = missing.isEmpty ? last : missing.joined(separator: ", ") + " and " + last
        let bytes = IBeaconFrame.payloadCount - count
        return PastedAdvertError(
            .cutShort,
            "\(subject) has an iBeacon frame that is cut short: \(bytes) byte\(bytes == 1 ? " is" : "s are") missing, "
                + list)
    }

    private func ofOtherCompany(_ company: UInt16, _ data: [UInt8]) -> PastedAdvertError {
        if company == 0x4C00 {
            return PastedAdvertError(
                .otherCompany, "\(subject) has the bytes of Apple's company swapped: 00 4C; on the air it is 4C 00")
        }
        guard data.starts(with: [0x02, 0x15]) else {
            return PastedAdvertError(
                .otherCompany,
                "\(subject) belongs to company \(Self.name(company)); iBeacon frames belong to 0x004C (Apple)")
        }
        var message =
            "\(subject) has the layout of an iBeacon, but its company is \(Self.name(company)); only frames of 0x004C "
            + "(Apple) are iBeacons, and phones ignore any other"
        let frame =
            [UInt8(IBeaconFrame.payloadCount + 1), 0xFF, 0x4C, 0x00] + data.prefix(IBeaconFrame.payloadCount - 2)
        if let identity = IBeaconFrame(advert: frame.span.bytes)?.identity {
            message += ". Its identity would be \(identity.uuid) \(identity.major)/\(identity.minor)"
        }
        return PastedAdvertError(.otherCompany, message)
    }

    // MARK: - Service data

    /// Returns the reason for service data with a 16-bit UUID.
    private func ofServiceData(_ data: [UInt8]) -> PastedAdvertError? {
        guard data.count >= 2 else { return nil }
        let service = UInt16(data[0]) | UInt16(data[1]) << 8
        guard service == 0xFEAA else {
            return PastedAdvertError(
                .noManufacturerData,
                "\(subject) has data of the service 0x\(Self.hexadecimal(data[1]))\(Self.hexadecimal(data[0])) but no "
                    + "manufacturer specific data (type FF), which iBeacon frames require")
        }
        // The frame types of Google's Eddystone specification.
        let frames: [UInt8: String] = [0x00: "UID", 0x10: "URL", 0x20: "TLM", 0x30: "EID"]
        let kind = data.dropFirst(2).first.flatMap { frames[$0 & 0xF0] }.map { "-\($0)" } ?? ""
        return PastedAdvertError(.otherBeacon, "\(subject) is an Eddystone\(kind) frame, not an iBeacon")
    }

    // MARK: - Names

    /// The kinds of Apple's other adverts, named as in public research.
    private static let kinds: [UInt8: String] = [
        0x05: "AirDrop", 0x07: "headphones", 0x09: "AirPlay", 0x0C: "Handoff", 0x0F: "a nearby action",
        0x10: "a device nearby", 0x12: "Find My",
    ]

    /// The companies that often occur instead of Apple (Assigned Numbers, 7.1).
    private static let companies: [UInt16: String] = [
        0x0059: "Nordic Semiconductor", 0x0118: "Radius Networks", 0x0006: "Microsoft", 0x00E0: "Google",
        0x0075: "Samsung", 0x0499: "Ruuvi", 0xFFFF: "reserved for tests",
    ]

    /// Returns a company's number, with its name if known.
    private static func name(_ company: UInt16) -> String {
        let number = "0x" + hexadecimal(UInt8(company >> 8)) + hexadecimal(UInt8(company & 0xFF))
        return companies[company].map { "\(number) (\($0))" } ?? number
    }

    private static func hexadecimal(_ byte: UInt8) -> String {
        (byte < 0x10 ? "0" : "") + String(byte, radix: 16, uppercase: true)
    }
}
