// The part of multicast DNS (RFC 6762) and service discovery (RFC 6763) that finds ESPHome devices.

/// The questions for devices in the local network that offer ESPHome's native API.
package enum ServiceQuestion {
    /// The address and port of multicast DNS (RFC 6762, 3).
    package static let address = "224.0.0.251"
    package static let port: UInt16 = 5353

    /// The name of the service.
    static let service = "_esphomelib._tcp.local"

    /// The question for all devices.
    package static var all: [UInt8] { question(service, kind: .pointer) }

    /// Returns the question for the address of a host that ends in `.local`.
    package static func address(of host: String) -> [UInt8] { question(host, kind: .address) }

    /// The kinds of records and questions (RFC 1035, 3.2.2 and 3.2.3; RFC 2782).
    enum Kind: UInt16 {
        case address = 1
        case pointer = 12
        case text = 16
        case service = 33
        case any = 255
    }

    private static func question(_ name: String, kind: Kind) -> [UInt8] {
        // No number, no flags, one question.
        var bytes: [UInt8] = [0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0]
        bytes += [UInt8](name: name)
        // Class 1. The highest bit requests an answer to this port only (RFC 6762, 5.4).
        return bytes + [0, UInt8(kind.rawValue), 0x80, 1]
    }
}

/// The devices in an answer of multicast DNS.
package struct ServiceAnswer: Hashable, Sendable {
    /// A device that offers the API.
    package struct Service: Hashable, Sendable {
        package var host: String
        package var port: UInt16
    }

    /// The devices, by service name.
    package private(set) var services: [String: Service] = [:]
    /// The addresses of hosts in four bytes, by name in lower case.
    package private(set) var addresses: [String: [UInt8]] = [:]

    /// The names of the services whose properties say that a key is needed.
    package private(set) var encrypted: Set<String> = []

    /// The most questions that an answer repeats. Answers to this program repeat one.
    private static let maximumQuestions = 16

    /// The most records to read from an answer.
    private static let maximumRecords = 256

    /// Reads an answer.
    ///
    /// - Returns: nil if the bytes are not an answer.
    package init?(_ bytes: RawSpan) {
        guard bytes.byteCount >= 12, bytes.number(at: 2) & 0x8000 != 0 else { return nil }
        var position = 12
        guard bytes.number(at: 4) <= Self.maximumQuestions else { return nil }
        for _ in 0..<bytes.number(at: 4) {
            guard bytes.labels(at: &position) != nil, position + 4 <= bytes.byteCount else { return nil }
            position += 4
        }
        let records = bytes.number(at: 6) + bytes.number(at: 8) + bytes.number(at: 10)
        for _ in 0..<min(records, Self.maximumRecords) {
            guard let name = bytes.labels(at: &position), position + 10 <= bytes.byteCount else { return nil }
            let kind = ServiceQuestion.Kind(rawValue: UInt16(bytes.number(at: position)))
            let count = bytes.number(at: position + 8)
            let data = position + 10
            position = data + count
            guard position <= bytes.byteCount else { return nil }
            switch kind {
            case .service:
                var target = data + 6
                guard name.lowercased().hasSuffix("._esphomelib._tcp.local"), count >= 7,
                    let host = bytes.labels(at: &target), host.lowercased().hasSuffix(".local")
                else { continue }
                services[name] = Service(host: host.lowercased(), port: UInt16(bytes.number(at: data + 4)))
            case .text:
                guard name.lowercased().hasSuffix("._esphomelib._tcp.local") else { continue }
                if bytes.hasProperty("api_encryption", in: data..<position) { encrypted.insert(name) }
            case .address where count == 4:
                let address = bytes.extracting(data..<(data + 4)).withUnsafeBytes { Array($0) }
                addresses[name.lowercased()] = address
            default: continue
            }
        }
    }
}

extension RawSpan {
    private func byte(_ offset: Int) -> UInt8 { unsafeLoad(fromByteOffset: offset, as: UInt8.self) }

    /// Returns whether the strings of a text record (RFC 6763, 6.3) contain a key with a value.
    fileprivate func hasProperty(_ key: String, in range: Range<Int>) -> Bool {
        var position = range.lowerBound
        while position < range.upperBound {
            let count = Int(byte(position))
            position += 1
            guard position + count <= range.upperBound else { return false }
            let property = extracting(position..<position + count)
            if property.withUnsafeBytes({ $0.starts(with: (key + "=").utf8) }) { return true }
            position += count
        }
        return false
    }

    /// Returns a number of two bytes, most significant first.
    func number(at offset: Int) -> Int { Int(byte(offset)) << 8 | Int(byte(offset + 1)) }

    /// Reads a name, which may be compressed (RFC 1035, 4.1.4), and advances the position.
    func labels(at position: inout Int) -> String? {
        var (place, end): (Int, Int?) = (position, nil)
        var name = ""
        // No valid name has more labels. The limit also ends names that refer to themselves.
        for _ in 0..<128 {
            guard place < byteCount else { return nil }
            let count = Int(byte(place))
            switch count {
            case 0:
                position = end ?? place + 1
                return name
            case 1..<64:
                guard place + 1 + count <= byteCount, name.utf8.count < 256 else { return nil }
                name += (name.isEmpty ? "" : ".") + text((place + 1)..<(place + 1 + count))
                place += 1 + count
            case 192...:
                guard place + 1 < byteCount else { return nil }
                end = end ?? place + 2
                place = (count & 63) << 8 | Int(byte(place + 1))
            default: return nil
            }
        }
        return nil
    }
}
