import BeaconModel

/// The reason why a text cannot be read as an iBeacon advert: its form, and the missing parts.
public struct PastedAdvertError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of failure.
    public enum Code: Hashable, Sendable {
        case noBytes, notHexadecimal, missingDigit
        case cutShort, wrongLength, otherCompany, otherBeacon, noManufacturerData, identityOnly, noAdvert, unknownForm
    }

    /// The kind of failure.
    public let code: Code
    /// One or two sentences with the form and the missing parts.
    public let message: String
    /// The message.
    public var description: String { message }

    init(_ code: Code, _ message: String) { (self.code, self.message) = (code, message) }
}

/// The reasons why bytes of a known form have no iBeacon frame.
struct PastedRefusal {
    /// The name of the form, as the subject of a sentence.
    let subject: String

    private func refusal(_ code: PastedAdvertError.Code, _ predicate: String) -> PastedAdvertError {
        PastedAdvertError(code, "\(subject) \(predicate)")
    }

    /// Returns the reason for an LE meta event, from its code on, without a complete report.
    func ofEvent(_ event: [UInt8]) -> PastedAdvertError {
        let missing = Int(event[1]) - (event.count - 2)
        return missing > 0
            ? refusal(.cutShort, "is cut short: \(missing) bytes are missing at its end")
            : refusal(.noAdvert, "is not an advertising report, which has the subevent 02, 0B or 0D")
    }

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
                let reason = ofManufacturerData(data, isClosed: advert.count - end < 4)
                // If there is data of Apple and of another company, the first is the relevant one.
                if data.starts(with: [0x4C, 0x00]) { return reason }
                other = other ?? reason
            case 0x16 where data.starts(with: [0xAA, 0xFE]):
                other = other ?? refusal(.otherBeacon, "is an Eddystone frame, not an iBeacon")
            default: break
            }
        }
        guard end < advert.count, advert[end] != 0 else {
            return other
                ?? refusal(
                    .noManufacturerData, "has no manufacturer specific data (type FF), which iBeacon frames require")
        }
        let rest = advert[end...]
        if rest.dropFirst().first == AdvertisingStructure.manufacturerSpecificData {
            return ofManufacturerData(Array(rest.dropFirst(2)))
        }
        // If the first byte is a length that ends inside the bytes, they are AD structures.
        if [16, 20, 21].contains(advert.count), Int(advert[0]) >= advert.count {
            return PastedAdvertError(
                .identityOnly,
                "these \(advert.count) bytes may be a UUID\(advert.count > 16 ? " with the values after it" : ""). An "
                    + "iBeacon frame has 02 15 before its UUID and 21 bytes after it; put 02 15 before your bytes")
        }
        let structure =
            "as AD structures, the one at byte \(end) claims \(rest[end]) bytes while \(rest.count - 1) follow"
        return other
            ?? refusal(.unknownForm, "has an unknown form: \(structure). Paste it from 02 01 or from 4C 00 02 15 on")
    }

    /// Returns the reason for manufacturer specific data, from the company on.
    func ofManufacturerData(_ data: [UInt8], isClosed: Bool = true) -> PastedAdvertError {
        guard data.count >= 2 else { return refusal(.cutShort, "is cut short: it ends inside the company") }
        let company = UInt16(data[0]) | UInt16(data[1]) << 8
        let kind = data.dropFirst(2)
        if kind.starts(with: [0xBE, 0xAC]) {
            return refusal(.otherBeacon, "is an AltBeacon of company \(Self.name(company)), not an iBeacon")
        }
        guard company == 0x004C else {
            return refusal(
                .otherCompany,
                "belongs to company \(Self.name(company)); iBeacon frames belong to 0x004C (Apple), 4C 00 on the air")
        }
        guard kind.isEmpty || kind.first == 0x02 else {
            return refusal(.otherBeacon, "is Apple's, but not an iBeacon (02 15): for example Handoff or Find My")
        }
        guard data.count < IBeaconFrame.payloadCount, isClosed, data.count < 4 || data[3] == 0x15 else {
            return ofWrongLength
        }
        let parts = [
            (4, "the kind (02 15)"), (20, "the UUID"), (22, "the major value"), (24, "the minor value"),
            (IBeaconFrame.payloadCount, "the measured power"),
        ]
        let bytes = IBeaconFrame.payloadCount - data.count
        return refusal(
            .cutShort,
            "has an iBeacon frame that is cut short: \(bytes) byte\(bytes == 1 ? " is" : "s are") missing, from "
                + "\(parts.first { data.count < $0.0 }?.1 ?? "") on")
    }

    /// The reason for a frame with a wrong length byte, or with bytes after it.
    var ofWrongLength: PastedAdvertError {
        refusal(.wrongLength, "has an iBeacon frame with a wrong length; from 02 15 on, an iBeacon has 23 bytes")
    }

    /// The companies that often occur instead of Apple (Assigned Numbers, 7.1).
    private static let companies: [UInt16: String] = [0x0059: "Nordic Semiconductor", 0x0499: "Ruuvi"]

    /// Returns a company's number, with its name if known.
    private static func name(_ company: UInt16) -> String {
        let digits = String(company, radix: 16, uppercase: true)
        let number = "0x" + String(repeating: "0", count: 4 - digits.count) + digits
        return companies[company].map { "\(number) (\($0))" } ?? number
    }
}
