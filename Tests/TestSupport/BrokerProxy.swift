import BeaconSupport
import Foundation

/// A forwarder to a broker's port whose connections a test can cut.
public final class BrokerProxy: Sendable {
    /// The port to connect to.
    public let port: UInt16

    private struct State {
        var sockets: [Int32] = []
        var isOver = false
    }

    private let listener: Int32
    private let state = Locked(State())

    /// Creates a forwarder.
    ///
    /// - Parameters:
    ///   - target: the port to forward to.
    ///   - answer: if it is not nil, clients of MQTT 5 get these bytes and are disconnected, as by an older broker.
    public init(to target: UInt16, answeringVersion5With answer: [UInt8]? = nil) throws {
        port = try FreePort.find()
        listener = try FreePort.listen(on: port)
        let (listener, state) = (listener, state)
        Thread.detachNewThread {
            while true {
                let incoming = accept(listener, nil, nil)
                guard incoming >= 0 else { return }
                var first: [UInt8] = []
                if let answer {
                    var buffer = [UInt8](repeating: 0, count: 4096)
                    let count = read(incoming, &buffer, buffer.count)
                    first = Array(buffer.prefix(max(count, 0)))
                    // The version follows the protocol's name (MQTT 5.0, 3.1.2.2).
                    if let name = first.firstRange(of: Array("MQTT".utf8)), first[name.upperBound] == 5 {
                        _ = answer.withUnsafeBytes { write(incoming, $0.baseAddress, $0.count) }
                        shutdown(incoming, Int32(SHUT_RDWR))
                        close(incoming)
                        continue
                    }
                }
                guard let outgoing = try? FreePort.open(target) else {
                    close(incoming)
                    continue
                }
                state.withLock { $0.sockets += [incoming, outgoing] }
                _ = first.withUnsafeBytes { write(outgoing, $0.baseAddress, $0.count) }
                Self.copy(incoming, outgoing)
                Self.copy(outgoing, incoming)
            }
        }
    }

    deinit {
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
        cut()
    }

    /// Closes all connections abruptly. New ones are allowed.
    public func cut() {
        let sockets = state.withLock { state in
            defer { state.sockets = [] }
            return state.sockets
        }
        for socket in sockets { shutdown(socket, Int32(SHUT_RDWR)) }
    }

    private static func copy(_ source: Int32, _ target: Int32) {
        Thread.detachNewThread {
            var buffer = [UInt8](repeating: 0, count: 65536)
            while true {
                let count = read(source, &buffer, buffer.count)
                guard count > 0 else { break }
                var sent = 0
                while sent < count {
                    let written = buffer[sent..<count].withUnsafeBytes {
                        send(target, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                    }
                    guard written > 0 else { break }
                    sent += written
                }
                guard sent == count else { break }
            }
            shutdown(target, Int32(SHUT_RDWR))
            shutdown(source, Int32(SHUT_RDWR))
        }
    }
}
