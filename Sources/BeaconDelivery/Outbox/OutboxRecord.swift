import Crypto
import Foundation

/// A notification as the outbox keeps it: a mark, a check, a length, and JSON.
///
/// The mark and the check are there for the day on which the database is damaged: a record that is whole is found, and known
/// to be whole, by its own bytes, whatever became of the pages that led to it.
enum OutboxRecord {
    /// What a record begins with.
    static let mark = Array("SBN1".utf8)

    /// The mark, eight bytes of a check and six of a length, in hexadecimal digits.
    static let headerLength = 4 + 16 + 6

    /// The longest JSON that the length can tell.
    static let maximumLength = 0xFF_FFFF

    static func encode(_ notification: BeaconNotification) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.withoutEscapingSlashes]
        let json = try encoder.encode(notification)
        var record = Data(capacity: headerLength + json.count)
        record.append(contentsOf: mark)
        record.append(contentsOf: check(json))
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

    /// The notification whose record begins at an offset of a page.
    ///
    /// - Returns: nil unless a record is there, whole and unharmed.
    static func find(in page: Data, at offset: Int) -> BeaconNotification? {
        let rest = page.dropFirst(offset)
        guard rest.count > headerLength, rest.starts(with: mark) else { return nil }
        let digits = String(decoding: rest.dropFirst(20).prefix(6), as: UTF8.self)
        guard let length = Int(digits, radix: 16), length <= rest.count - headerLength else { return nil }
        let json = rest.dropFirst(headerLength).prefix(length)
        guard check(json).elementsEqual(rest.dropFirst(4).prefix(16)) else { return nil }
        return try? JSONDecoder().decode(BeaconNotification.self, from: json)
    }

    /// The first eight bytes of SHA-256, which no damage meets by chance.
    private static func check(_ json: Data) -> some Collection<UInt8> {
        let digits = Array("0123456789abcdef".utf8)
        return SHA256.hash(data: json).prefix(8).flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
    }
}
