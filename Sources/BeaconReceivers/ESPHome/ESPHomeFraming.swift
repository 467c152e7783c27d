package import BeaconNoise

/// A codec for the messages of ESPHome's native API, plain or encrypted, for either side (esphome.io, native API;
/// aioesphomeapi, `_frame_helper`).
///
/// A plain message is a zero, its length, its kind and its content. Length and kind have variable length. An encrypted
/// message is a 1, its length in two bytes, most significant first, and the ciphertext of kind and length, two bytes
/// each, and content.
package struct ESPHomeFraming {
    /// The length of an API key in bytes.
    package static let keyCount = NoiseHandshake.keyCount

    /// The prologue of the handshake, which both sides know.
    private static let prologue: [UInt8] = Array("NoiseAPIInit".utf8) + [0, 0]

    /// The longest plain message in bytes. A batch of adverts has some 2 kB.
    private static let longest = 1 << 18

    private enum Phase {
        case plain
        /// The codec waits for this side's first message or the other side's hello.
        case hello(NoiseHandshake)
        case handshake(NoiseHandshake)
        case secret(sending: NoiseCipher, receiving: NoiseCipher)
    }

    /// The bytes to send.
    package private(set) var output: [UInt8] = []

    private let role: NoiseHandshake.Role
    private let ownName: String
    private let ownAddress: String
    private var phase: Phase
    private var input: [UInt8] = []

    /// Creates a codec for one side of a connection.
    ///
    /// - Parameters:
    ///   - role: the initiator is the client.
    ///   - key: the device's key; nil for a plain connection.
    ///   - name: the device's name; only the device's side needs it.
    ///   - address: the device's address in twelve digits; only the device's side needs it.
    ///   - secret: this side's secret for tests; nil for a new one.
    /// - Throws: ``ESPHomeError`` if the library for encryption is missing.
    package init(
        _ role: NoiseHandshake.Role, key: [UInt8]?, name: String = "", address: String = "", secret: [UInt8]? = nil
    ) throws(ESPHomeError) {
        self.role = role
        ownName = name
        ownAddress = address
        guard let key else {
            phase = .plain
            return
        }
        do throws(NoiseError) {
            var handshake = try NoiseHandshake(role, key: key, prologue: Self.prologue, secret: secret)
            let message = role == .initiator ? try handshake.write() : []
            phase = .hello(handshake)
            if role == .initiator {
                // An empty frame selects the encryption. The handshake follows at once.
                appendFrame([])
                appendFrame([0] + message)
            }
        } catch {
            throw ESPHomeError(.noEncryption, error.message)
        }
    }

    /// True once messages can be sent: at once without encryption, after the handshake with it.
    package var isReady: Bool {
        switch phase {
        case .plain, .secret: true
        case .hello, .handshake: false
        }
    }

    /// Returns the bytes to send, and removes them from the output.
    package mutating func takeOutput() -> [UInt8] {
        defer { output = [] }
        return output
    }

    /// Adds a message to the output.
    package mutating func send(_ kind: ESPHomeMessage, _ content: [UInt8] = []) throws(ESPHomeError) {
        switch phase {
        case .plain:
            output.append(0)
            output.append(variable: UInt64(content.count))
            output.append(variable: UInt64(kind.rawValue))
            output.append(contentsOf: content)
        case .secret(var sending, let receiving):
            guard content.count <= 0xFFFF - 4 - NoiseCipher.tagCount else { throw .damaged }
            let head = [
                UInt8(kind.rawValue >> 8), UInt8(truncatingIfNeeded: kind.rawValue), UInt8(content.count >> 8),
                UInt8(truncatingIfNeeded: content.count),
            ]
            do throws(NoiseError) {
                let frame = try sending.seal(head + content)
                appendFrame(frame)
            } catch {
                throw ESPHomeError(.noEncryption, error.message)
            }
            phase = .secret(sending: sending, receiving: receiving)
        case .hello, .handshake: throw .damaged
        }
    }

    /// Processes received bytes, and delivers each complete message.
    ///
    /// - Parameters:
    ///   - bytes: the received bytes.
    ///   - body: receives the number of the message's kind and its content.
    /// - Returns: the reason why the connection is over; nil if it continues.
    @inline(__always)
    package mutating func receive(
        _ bytes: RawSpan, _ body: (_ kind: Int, _ content: RawSpan) throws -> Void
    ) rethrows -> ESPHomeError? {
        bytes.withUnsafeBytes { input.append(contentsOf: $0) }
        var position = 0
        defer { input.removeFirst(min(position, input.count)) }
        while position < input.count {
            if case .plain = phase {
                guard input[position] == 0 else { return notPlain(position) }
                let span = input.span.bytes
                var start = position + 1
                // At most three bytes, so that an endless length is rejected.
                guard let count = span.variable(at: &start, before: min(start + 3, span.byteCount)) else {
                    return span.byteCount - position > 4 ? .damaged : nil
                }
                guard count <= Self.longest else { return .damaged }
                let afterCount = start
                guard let kind = span.variable(at: &start, before: min(start + 3, span.byteCount)) else {
                    return span.byteCount - afterCount >= 3 ? .damaged : nil
                }
                guard span.byteCount - start >= Int(count) else { return nil }
                position = start + Int(count)
                try body(Int(truncatingIfNeeded: kind), span.extracting(start..<position))
            } else {
                guard input[position] == 1 else {
                    // The firmware's error text. It shows a client that it must encrypt.
                    if role == .responder { appendFrame([1] + Array("Bad indicator byte".utf8)) }
                    return input[position] == 0
                        ? ESPHomeError(
                            .plainDevice,
                            "it is not encrypted; leave out the key, "
                                + "or set one in its configuration")
                        : .damaged
                }
                guard input.count - position >= 3 else { return nil }
                let count = Int(input[position + 1]) << 8 | Int(input[position + 2])
                guard input.count - position - 3 >= count else { return nil }
                let frame = Array(input[(position + 3)..<(position + 3 + count)])
                position += 3 + count
                switch open(frame) {
                case .failure(let error): return error
                case .success(nil): break
                case .success(let content?):
                    let length = Int(content[2]) << 8 | Int(content[3])
                    guard content.count - 4 >= length else { return .damaged }
                    try body(Int(content[0]) << 8 | Int(content[1]), content.span.bytes.extracting(4..<(4 + length)))
                }
            }
        }
        return nil
    }

    private mutating func notPlain(_ position: Int) -> ESPHomeError {
        if role == .responder { output += [0] + Array("Bad indicator byte".utf8) }
        return input[position] == 1
            ? ESPHomeError(
                .keyNeeded, "it is encrypted; give its key from api: encryption: in its configuration")
            : .damaged
    }

    /// Reads an encrypted frame.
    ///
    /// - Returns: kind, length and content; nil for a frame of the handshake.
    private mutating func open(_ frame: [UInt8]) -> Result<[UInt8]?, ESPHomeError> {
        do throws(NoiseError) {
            switch phase {
            case .plain: return .failure(.damaged)
            case .hello(let handshake):
                if role == .responder {
                    // The choice of encryption: only one exists. The answer has the device's name and address.
                    guard frame.isEmpty else { return .failure(.damaged) }
                    appendFrame([1] + Array(ownName.utf8) + [0] + Array(ownAddress.utf8) + [0])
                } else {
                    guard frame.first == 1 else { return .failure(.damaged) }
                }
                phase = .handshake(handshake)
                return .success(nil)
            case .handshake(var handshake):
                guard frame.first == 0 else {
                    // aioesphomeapi, _frame_helper/noise.py: every other text means another error.
                    let isKey = frame.dropFirst().elementsEqual("Handshake MAC failure".utf8)
                    return .failure(isKey ? .wrongKey : .damaged)
                }
                do throws(NoiseError) {
                    try handshake.read(Array(frame.dropFirst()))
                } catch {
                    if role == .responder { appendFrame([1] + Array("Handshake MAC failure".utf8)) }
                    return .failure(.wrongKey)
                }
                if role == .responder {
                    let message = try handshake.write()
                    appendFrame([0] + message)
                }
                let ciphers = handshake.split()
                phase = .secret(sending: ciphers.sending, receiving: ciphers.receiving)
                return .success(nil)
            case .secret(let sending, var receiving):
                let content = try receiving.open(frame)
                phase = .secret(sending: sending, receiving: receiving)
                return content.count >= 4 ? .success(content) : .failure(.damaged)
            }
        } catch {
            return .failure(ESPHomeError(error.code == .missingLibrary ? .noEncryption : .damaged, error.message))
        }
    }

    private mutating func appendFrame(_ frame: [UInt8]) {
        output.append(1)
        output.append(UInt8(truncatingIfNeeded: frame.count >> 8))
        output.append(UInt8(truncatingIfNeeded: frame.count))
        output.append(contentsOf: frame)
    }
}

/// A kind of message of ESPHome's native API, by its number (aioesphomeapi, `api.proto`).
package struct ESPHomeMessage: RawRepresentable, Hashable, Sendable {
    package let rawValue: UInt16

    package init(rawValue: UInt16) { self.rawValue = rawValue }

    package static let hello = ESPHomeMessage(rawValue: 1)
    package static let helloAnswer = ESPHomeMessage(rawValue: 2)
    package static let authentication = ESPHomeMessage(rawValue: 3)
    package static let authenticationAnswer = ESPHomeMessage(rawValue: 4)
    package static let disconnect = ESPHomeMessage(rawValue: 5)
    package static let disconnectAnswer = ESPHomeMessage(rawValue: 6)
    package static let ping = ESPHomeMessage(rawValue: 7)
    package static let pingAnswer = ESPHomeMessage(rawValue: 8)
    package static let deviceInfo = ESPHomeMessage(rawValue: 9)
    package static let deviceInfoAnswer = ESPHomeMessage(rawValue: 10)
    package static let subscribeAdverts = ESPHomeMessage(rawValue: 66)
    package static let unsubscribeAdverts = ESPHomeMessage(rawValue: 87)
    package static let adverts = ESPHomeMessage(rawValue: 93)
    package static let scannerState = ESPHomeMessage(rawValue: 126)
    package static let entities = ESPHomeMessage(rawValue: 11)
    package static let noMoreEntities = ESPHomeMessage(rawValue: 19)
    package static let setScannerMode = ESPHomeMessage(rawValue: 127)
    package static let subscribeConnections = ESPHomeMessage(rawValue: 80)
    package static let freeConnections = ESPHomeMessage(rawValue: 81)
    package static let connection = ESPHomeMessage(rawValue: 68)
    package static let connectionAnswer = ESPHomeMessage(rawValue: 69)
    package static let services = ESPHomeMessage(rawValue: 70)
    package static let readCharacteristic = ESPHomeMessage(rawValue: 73)
    package static let writeCharacteristic = ESPHomeMessage(rawValue: 75)
    package static let readDescriptor = ESPHomeMessage(rawValue: 76)
    package static let writeDescriptor = ESPHomeMessage(rawValue: 77)
    package static let notify = ESPHomeMessage(rawValue: 78)
    package static let readError = ESPHomeMessage(rawValue: 82)
}

/// The reason why an ESPHome device cannot be used, for people. It follows the device's name in a sentence.
package struct ESPHomeError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A kind of failure.
    package enum Code: Sendable {
        case keyNeeded, wrongKey, plainDevice, noEncryption, damaged, passwordNeeded, noProxy, tooOld, ended
    }

    /// The kind of failure.
    package var code: Code
    /// The problem and its remedy.
    package var message: String

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The message.
    package var description: String { message }

    static let damaged = ESPHomeError(.damaged, "it does not speak ESPHome's API; check host and port")
    static let wrongKey = ESPHomeError(
        .wrongKey, "the key is wrong; use the one under api: encryption: in its configuration")
    package static let ended = ESPHomeError(.ended, "it ended the connection")
}
