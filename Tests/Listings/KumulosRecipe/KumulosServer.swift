import Foundation
import Glibc

/// A local server that stands in for Kumulos: it accepts all requests and stores them.
final class KumulosServer: @unchecked Sendable {
    /// A received request.
    struct Received {
        var method: String
        var path: String
        /// The headers, by names in lower case.
        var headers: [String: String]
        /// The events, each a JSON object.
        var events: [[String: Any]]
    }

    // Unchecked: the lock protects the following properties.
    private let lock = NSLock()
    private var received: [Received] = []

    /// The received requests, in order.
    var requests: [Received] { lock.withLock { received } }

    /// The events of all requests, in order.
    var events: [[String: Any]] { requests.flatMap(\.events) }

    /// Starts the server, and returns its address.
    func start() -> String {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                guard bind(listener, address, size) == 0, listen(listener, 16) == 0,
                    getsockname(listener, address, &size) == 0
                else { fatalError("no port of this machine is free") }
            }
        }
        Thread.detachNewThread {
            while case let connection = accept(listener, nil, nil), connection >= 0 {
                self.serve(connection)
                close(connection)
            }
        }
        return "http://127.0.0.1:\(UInt16(bigEndian: address.sin_port))"
    }

    /// Waits until a condition holds. It gives up after five minutes, which is longer than any machine needs.
    func wait(until condition: () -> Bool) -> Bool {
        for _ in 0..<60_000 {
            if condition() { return true }
            usleep(5_000)
        }
        return false
    }

    /// Receives one request, and answers 200.
    private func serve(_ connection: Int32) {
        var bytes = Data()
        var buffer = [UInt8](repeating: 0, count: 65536)
        func readMore() -> Bool {
            let count = read(connection, &buffer, buffer.count)
            if count > 0 { bytes += buffer[..<count] }
            return count > 0
        }
        var end = bytes.range(of: Data("\r\n\r\n".utf8))
        while end == nil {
            guard readMore() else { return }
            end = bytes.range(of: Data("\r\n\r\n".utf8))
        }
        guard let end else { return }
        let lines = String(decoding: bytes[..<end.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
        let words = lines.first?.split(separator: " ") ?? []
        guard words.count == 3 else { return }
        var headers: [String: String] = [:]
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":") else { continue }
            let value = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
            headers[line[..<colon].lowercased()] = value
        }
        let length = headers["content-length"].flatMap { Int($0) } ?? 0
        while bytes.count - end.upperBound < length {
            guard readMore() else { return }
        }
        let body = bytes[end.upperBound...].prefix(length)
        let events = (try? JSONSerialization.jsonObject(with: body)) as? [[String: Any]] ?? []
        let got = Received(
            method: String(words[0]), path: String(words[1].prefix { $0 != "?" }), headers: headers, events: events)
        lock.withLock { received.append(got) }
        let answer = Array("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".utf8)
        _ = send(connection, answer, answer.count, Int32(MSG_NOSIGNAL))
    }
}
