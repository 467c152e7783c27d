package import BeaconModel
import BeaconNoise
import BeaconSupport

/// The device's side of a connection to a Bluetooth proxy of ESPHome: the answers to Home Assistant and other clients.
/// It does no I/O and reads no clock: the caller passes bytes in and out.
///
/// Any number of clients can have the adverts at once. The firmware supports only one.
package struct ESPHomeDevice {
    /// The information that a device sends about itself.
    package struct Identity: Hashable, Sendable {
        /// Its name in the network: lower case letters, digits and hyphens.
        package var name: String
        /// Its name for people.
        package var title: String
        /// Its address, which clients use to recognize it.
        package var address: DeviceAddress
        /// The project: ``radioProject`` or ``networkProject``.
        package var project: String
        /// The key of its API; nil for plain connections.
        package var key: [UInt8]?

        /// Creates an identity from its parts.
        package init(name: String, title: String, address: DeviceAddress, project: String, key: [UInt8]? = nil) {
            self.name = name
            self.title = title
            self.address = address
            self.project = project
            self.key = key
        }

        /// The address as twelve digits, as in the announcement of a service.
        package var addressDigits: String { String(addressText.filter { $0 != ":" }).lowercased() }

        /// The address in the firmware's notation.
        var addressText: String { address.description.uppercased() }
    }

    /// The state of the scanner, by its number (aioesphomeapi, `BluetoothScannerState`).
    package enum Scanner: UInt64, Sendable {
        /// It is about to run.
        case starting = 1
        /// It runs.
        case running = 2
        /// It does not run and hears nothing.
        case failed = 3
    }

    /// The project of adverts from the machine's own radios.
    package static let radioProject = "swift-beacon.proxy"

    /// The project of adverts that other receivers sent to this machine. A search for receivers ignores it, so that no
    /// advert travels in a circle.
    package static let networkProject = "swift-beacon.tee"

    /// The version of ESPHome to imitate: the last one whose clients may subscribe without taking adverts from others.
    package static let version = "2026.6.0"

    /// The most adverts in a message, and the longest wait for more, in nanoseconds (bluetooth_proxy.cpp).
    package static let batchCount = 16
    package static let batchTime = Timestamp.nanosecondsPerSecond / 10

    /// The proxy's features: it scans, passes on raw adverts, and reports the state of its scanner; bits 0, 5 and 6
    /// (aioesphomeapi, `BluetoothProxyFeature`). It makes no connections.
    private static let features: UInt64 = 1 << 0 | 1 << 5 | 1 << 6

    /// The time for a client to send its hello, in nanoseconds.
    private static let helloTimeout = 15 * Timestamp.nanosecondsPerSecond

    /// The silence after which the device pings a client, and the silence after which it disconnects, in nanoseconds
    /// (ESPHome, api_connection.cpp).
    private static let askAfter = 60 * Timestamp.nanosecondsPerSecond
    private static let patience = 150 * Timestamp.nanosecondsPerSecond

    /// The longest client name to keep, in bytes.
    private static let longestName = 64

    /// "Request not supported" (Core Specification 5.3, Vol 3, Part F, 3.4.1.1): the answer to requests that need a
    /// connection.
    private static let notSupported: UInt64 = 6

    private let identity: Identity
    private var framing: ESPHomeFraming
    private var scanner: Scanner
    private var lastMessage: Timestamp
    private var hasAsked = false

    /// True once the client has sent its hello.
    package private(set) var hasExchangedHello = false

    /// The client's name for people; empty before its hello.
    package private(set) var client = ""

    /// True while the client subscribes to adverts.
    package private(set) var isSubscribed = false

    /// True once the client has asked for active scanning, which the device does not do.
    package private(set) var hasAskedForActiveScan = false

    /// Creates a device at the beginning of a connection.
    ///
    /// - Throws: ``ESPHomeError`` if the library for encryption is missing.
    package init(_ identity: Identity, scanner: Scanner, at time: Timestamp) throws(ESPHomeError) {
        self.identity = identity
        self.scanner = scanner
        lastMessage = time
        framing = try ESPHomeFraming(
            .responder, key: identity.key, name: identity.name, address: identity.addressDigits)
    }

    /// Returns the bytes to send, and removes them from the output.
    package mutating func takeOutput() -> [UInt8] { framing.takeOutput() }

    /// Processes received bytes.
    ///
    /// - Returns: the reason why the connection is over once the output is sent; nil if it continues.
    package mutating func receive(_ bytes: RawSpan, at time: Timestamp) -> ESPHomeError? {
        lastMessage = max(lastMessage, time)
        hasAsked = false
        var failure: ESPHomeError?
        var requests = Requests()
        let fault = framing.receive(bytes) { kind, content in
            guard failure == nil else { return }
            failure = requests.read(kind, content, hasExchangedHello: hasExchangedHello || requests.client != nil)
        }
        if let client = requests.client { (hasExchangedHello, self.client) = (true, client) }
        do throws(ESPHomeError) {
            for request in requests.all { try answer(request) }
        } catch {
            failure = failure ?? error
        }
        return failure ?? fault
    }

    /// Advances the clock. Pings a silent client.
    ///
    /// - Returns: the reason why the connection is over; nil if it continues.
    package mutating func advance(to time: Timestamp) -> ESPHomeError? {
        let silence = time.since(lastMessage)
        guard silence < (hasExchangedHello ? Self.patience : Self.helloTimeout) else {
            return ESPHomeError(.ended, "it has not responded for \(silence / Timestamp.nanosecondsPerSecond) s")
        }
        guard hasExchangedHello, !hasAsked, silence >= Self.askAfter else { return nil }
        hasAsked = true
        do throws(ESPHomeError) {
            try framing.send(.ping)
        } catch {
            return error
        }
        return nil
    }

    /// The time at which `advance` must be called again.
    package var deadline: Timestamp {
        lastMessage.advanced(by: hasExchangedHello ? hasAsked ? Self.patience : Self.askAfter : Self.helloTimeout)
    }

    /// Sends a message of adverts to a subscribed client (``ESPHomeAdverts``).
    package mutating func send(adverts: [UInt8]) throws(ESPHomeError) {
        if isSubscribed { try framing.send(.adverts, adverts) }
    }

    /// Sets the scanner's state, and notifies a subscribed client.
    package mutating func set(_ scanner: Scanner) throws(ESPHomeError) {
        guard scanner != self.scanner else { return }
        self.scanner = scanner
        if isSubscribed { try sendScanner() }
    }

    /// Sends a disconnect request, so that the client reconnects later.
    package mutating func leave() throws(ESPHomeError) {
        if hasExchangedHello { try framing.send(.disconnect) }
    }

    private mutating func answer(_ request: Request) throws(ESPHomeError) {
        var content: [UInt8] = []
        switch request {
        case .hello:
            content.append(field: 1, 1)
            content.append(field: 2, 10)
            content.append(field: 3, "swift-beacon")
            content.append(field: 4, identity.name)
            try framing.send(.helloAnswer, content)
        case .authentication: try framing.send(.authenticationAnswer)
        case .disconnect: try framing.send(.disconnectAnswer)
        case .ping: try framing.send(.pingAnswer)
        case .deviceInfo: try framing.send(.deviceInfoAnswer, deviceInfo)
        case .entities: try framing.send(.noMoreEntities)
        case .subscribe:
            isSubscribed = true
            // Shows the client that it is subscribed.
            try sendScanner()
        case .unsubscribe: isSubscribed = false
        // The mode stays passive: active scanning reveals the machine, and a client must not decide that.
        case .setMode(let isActive):
            hasAskedForActiveScan = hasAskedForActiveScan || isActive
            try sendScanner()
        // No connections are free. The number zero is not encoded.
        case .connections: try framing.send(.freeConnections)
        case .connect(let address):
            content.append(field: 1, address)
            content.append(field: 4, Self.notSupported)
            try framing.send(.connectionAnswer, content)
        case .peripheral(let address, let handle):
            content.append(field: 1, address)
            content.append(field: 2, handle)
            content.append(field: 3, Self.notSupported)
            try framing.send(.readError, content)
        }
    }

    private mutating func sendScanner() throws(ESPHomeError) {
        // The current mode and the configured mode are passive, which is zero and not encoded.
        var content: [UInt8] = []
        content.append(field: 1, scanner.rawValue)
        try framing.send(.scannerState, content)
    }

    private var deviceInfo: [UInt8] {
        var content: [UInt8] = []
        content.append(field: 2, identity.name)
        content.append(field: 3, identity.addressText)
        content.append(field: 4, Self.version)
        content.append(field: 6, "swift-beacon")
        content.append(field: 8, identity.project)
        // Home Assistant shows "9 (ESPHome 4)", with a space in front if there is no 9.
        content.append(field: 9, ProgramVersion.current)
        content.append(field: 12, "swift-beacon")
        content.append(field: 13, identity.title)
        content.append(field: 15, Self.features)
        content.append(field: 18, identity.addressText)
        content.append(field: 19, identity.key == nil ? 0 : 1)
        return content
    }

    /// A client's request.
    private enum Request {
        case hello, authentication, disconnect, ping, deviceInfo, entities, subscribe, unsubscribe, connections
        case setMode(isActive: Bool)
        case connect(address: UInt64)
        case peripheral(address: UInt64, handle: UInt64)
    }

    /// The requests in one batch of bytes.
    private struct Requests {
        /// The most requests at once: a client sends a dozen when it connects.
        private static let most = 1024

        var all: [Request] = []
        var client: String?

        /// Reads a message.
        ///
        /// - Returns: the reason why the connection is over.
        mutating func read(_ kind: Int, _ content: RawSpan, hasExchangedHello: Bool) -> ESPHomeError? {
            let message = UInt16(exactly: kind).map(ESPHomeMessage.init(rawValue:))
            guard hasExchangedHello || message == .hello else { return .damaged }
            guard all.count < Self.most else { return .damaged }
            switch message {
            case .hello:
                var name = ""
                content.forEachField(in: 0..<content.byteCount) { field, value in
                    if field == 1, case .bytes(let range) = value {
                        name = content.text(range.prefix(ESPHomeDevice.longestName)).printable
                    }
                    return true
                }
                client = name
                all.append(.hello)
            case .authentication: all.append(.authentication)
            case .disconnect:
                all.append(.disconnect)
                return .ended
            case .ping: all.append(.ping)
            case .deviceInfo: all.append(.deviceInfo)
            case .entities: all.append(.entities)
            case .subscribeAdverts: all.append(.subscribe)
            case .unsubscribeAdverts: all.append(.unsubscribe)
            case .setScannerMode: all.append(.setMode(isActive: Self.numbers(content).first != 0))
            case .subscribeConnections: all.append(.connections)
            case .connection: all.append(.connect(address: Self.numbers(content).first))
            case .services, .readCharacteristic, .writeCharacteristic, .readDescriptor, .writeDescriptor, .notify:
                let (address, handle) = Self.numbers(content)
                all.append(.peripheral(address: address, handle: message == .services ? 0 : handle))
            // Requests for states, logs and times, which do not exist here, and responses.
            default: break
            }
            return nil
        }

        private static func numbers(_ content: RawSpan) -> (first: UInt64, second: UInt64) {
            var numbers: (UInt64, UInt64) = (0, 0)
            content.forEachField(in: 0..<content.byteCount) { field, value in
                switch (field, value) {
                case (1, .number(let number)): numbers.0 = number
                case (2, .number(let number)): numbers.1 = number
                default: break
                }
                return true
            }
            return numbers
        }
    }
}
