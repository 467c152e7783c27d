import Crypto
import Foundation

/// The stored form of a notification: a mark, a checksum, a length, and JSON.
///
/// The mark and the checksum serve a damaged database: an intact record is found, and known to be intact, by its own
/// bytes, independent of the pages that led to it.
enum OutboxRecord {
    /// The first bytes of a record.
    static let mark = Array("SBN1".utf8)

    /// The mark, 16 hexadecimal digits of a checksum and 6 of a length.
    static let headerLength = 4 + 16 + 6

    /// The longest JSON that six hexadecimal digits can give the length of.
    static let maximumLength = 0xFF_FFFF

    /// Returns the record of a notification.
    static func encode(_ notification: BeaconNotification) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.withoutEscapingSlashes]
        let json = try encoder.encode(notification)
        var record = Data(capacity: headerLength + json.count)
        record.append(contentsOf: mark)
        record.append(contentsOf: checksum(json))
        let length = String(json.count, radix: 16)
        record.append(contentsOf: String(repeating: "0", count: max(6 - length.count, 0)).utf8)
        record.append(contentsOf: length.utf8)
        record.append(json)
        return record
    }

    /// Reads a record.
    ///
    /// - Returns: nil if the JSON is not that of a notification.
    static func decode(_ record: Data) -> BeaconNotification? {
        guard record.starts(with: mark) else { return nil }
        return try? JSONDecoder().decode(BeaconNotification.self, from: record.dropFirst(headerLength))
    }

    /// Returns the notification whose record begins at an offset of a page.
    ///
    /// - Returns: nil unless an intact record is there.
    static func find(in page: Data, at offset: Int) -> BeaconNotification? {
        let rest = page.dropFirst(offset)
        guard rest.count > headerLength, rest.starts(with: mark) else { return nil }
        let digits = String(decoding: rest.dropFirst(20).prefix(6), as: UTF8.self)
        guard let length = Int(digits, radix: 16), length <= rest.count - headerLength else { return nil }
        let json = rest.dropFirst(headerLength).prefix(length)
        guard checksum(json).elementsEqual(rest.dropFirst(4).prefix(16)) else { return nil }
        return try? JSONDecoder().decode(BeaconNotification.self, from: json)
    }

    /// Returns the first eight bytes of SHA-256, in hexadecimal digits.
    private static func checksum(_ json: Data) -> some Collection<UInt8> {
        let digits = Array("0123456789abcdef".utf8)
        return SHA256.hash(data: json).prefix(8).flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
    }
}
