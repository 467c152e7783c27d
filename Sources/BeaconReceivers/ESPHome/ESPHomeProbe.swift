public import BeaconModel
import BeaconNoise

/// The ESPHome parsers, for measurements and fuzzing. This API is not stable.
public enum ESPHomeProbe {
    /// Reads the bytes of a plain connection as a client does.
    ///
    /// - Parameters:
    ///   - bytes: the device's output.
    ///   - size: the number of bytes per read.
    /// - Returns: the number of adverts.
    public static func readConnection(_ bytes: [UInt8], inPiecesOf size: Int) -> Int {
        var time = Timestamp.zero
        guard var client = try? ESPHomeClient(key: nil, mayTake: true, at: time) else { return 0 }
        var adverts = 0
        for start in stride(from: 0, to: bytes.count, by: max(size, 1)) {
            time = time.advanced(by: Timestamp.nanosecondsPerSecond / 2)
            let piece = Array(bytes[start..<min(start + max(size, 1), bytes.count)])
            let failure = client.receive(
                piece.span.bytes, at: time, deliver: { _, _, _ in adverts += 1 }, report: { _ in })
            if failure != nil || client.advance(to: time, report: { _ in }) != nil { break }
            _ = client.takeOutput()
        }
        return adverts
    }

    /// Reads an answer of multicast DNS as a browser does, and a question as a device does.
    public static func readAnswer(_ bytes: RawSpan) {
        _ = ServiceAnswer(bytes)
        var announcement = ServiceAnnouncement()
        announcement.services = [.init(identity(key: nil), port: 6053)]
        _ = announcement.answers(to: bytes, from: 5353, addresses: [[10, 0, 0, 1]])
        _ = announcement.answers(to: bytes, from: 4711, addresses: [])
        _ = announcement.conflict(in: bytes, addresses: [])
    }

    /// Reads the bytes of a plain and of an encrypted connection as a device does.
    ///
    /// - Parameters:
    ///   - bytes: the client's output.
    ///   - size: the number of bytes per read.
    /// - Returns: the number of bytes in the answers.
    public static func readRequests(_ bytes: [UInt8], inPiecesOf size: Int) -> Int {
        var count = 0
        for key in [nil, [UInt8](repeating: 7, count: ESPHomeFraming.keyCount)] {
            guard var device = try? ESPHomeDevice(identity(key: key), scanner: .running, at: .zero) else { continue }
            var time = Timestamp.zero
            for start in stride(from: 0, to: bytes.count, by: max(size, 1)) {
                time = time.advanced(by: Timestamp.nanosecondsPerSecond / 2)
                let piece = Array(bytes[start..<min(start + max(size, 1), bytes.count)])
                let isOver = device.receive(piece.span.bytes, at: time) != nil || device.advance(to: time) != nil
                try? device.send(adverts: [10, 0])
                count += device.takeOutput().count
                if isOver { break }
            }
        }
        return count
    }

    private static func identity(key: [UInt8]?) -> ESPHomeDevice.Identity {
        ESPHomeDevice.Identity(
            name: "hall", title: "hall", address: DeviceAddress(bits: 1, kind: .public),
            project: ESPHomeDevice.radioProject, key: key)
    }

    /// A reader of adverts in the bytes of a plain connection.
    public struct Reader {
        private var framing: ESPHomeFraming?

        /// Creates a reader at the beginning of a connection.
        public init() { framing = try? ESPHomeFraming(.initiator, key: nil) }

        /// Reads received bytes.
        ///
        /// - Parameter deliver: receives each advert: address, signal strength in dBm, AD structures.
        /// - Returns: false if they are damaged.
        @inline(__always)
        public mutating func read(_ bytes: RawSpan, _ deliver: (DeviceAddress, Int, RawSpan) -> Void) -> Bool {
            var isWhole = true
            let failure = framing?.receive(bytes) { kind, content in
                guard kind == Int(ESPHomeMessage.adverts.rawValue) else { return }
                if !ESPHomeAdverts.forEach(in: content, deliver) { isWhole = false }
            }
            return isWhole && failure == nil
        }
    }
}
