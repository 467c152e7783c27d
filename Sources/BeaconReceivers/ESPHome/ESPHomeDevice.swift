package import BeaconModel
import BeaconNoise
import BeaconSupport

/// The device's side of a connection to a Bluetooth proxy of ESPHome: what it answers to Home Assistant and to other
/// clients. It does no I/O and reads no clock: bytes go in and out.
///
/// Any number of clients may have the adverts at once, unlike with the firmware, which gives them to one.
package struct ESPHomeDevice {
    /// What a device says of itself.
    package struct Identity: Hashable, Sendable {
        /// Its name in the network: lower case letters, digits and hyphens.
        package var name: String
        /// Its name for people.
        package var title: String
        /// Its address, by which clients know it again.
        package var address: DeviceAddress
        /// What passes the adverts on: one of ``radioProject`` and ``networkProject``.
        package var project: String
        /// The key of its API; nil for plain connections.
        package var key: [UInt8]?

        /// What a device says of itself.
        package init(name: String, title: String, address: DeviceAddress, project: String, key: [UInt8]? = nil) {
            self.name = name
            self.title = title
            self.address = address
            self.project = project
            self.key = key
        }

        /// The address as twelve digits, as in the announcement of a service.
        package var addressDigits: String { String(addressText.filter { $0 != ":" }).lowercased() }

        /// The address as the firmware writes it.
        var addressText: String { address.description.uppercased() }
    }

    /// Whether the scanner runs, by its number (aioesphomeapi, `BluetoothScannerState`).
    package enum Scanner: UInt64, Sendable {
        /// It is about to.
        case starting = 1
        /// It does.
        case running = 2
        /// It does not, and nothing is heard.
        case failed = 3
    }

    /// The project of what is heard by radios of the machine itself.
    package static let radioProject = "swift-beacon.proxy"

    /// The project of what other receivers sent to the machine. Who looks for receivers passes it over, so that no
    /// advert goes round in a circle.
    package static let networkProject = "swift-beacon.tee"

    /// The version of ESPHome that it behaves as: the last whose clients may subscribe without taking from others.
    package static let version = "2026.6.0"

    /// The most adverts in a message, and how long one waits for others, in nanoseconds (bluetooth_proxy.cpp).
    package static let batchCount = 16
    package static let batchTime = Timestamp.nanosecondsPerSecond / 10

    /// What the proxy can do: it scans, passes on adverts as they are, and tells the state of its scanner; bits 0, 5
    /// and 6 (aioesphomeapi, `BluetoothProxyFeature`). It makes no connections.
    private static let features: UInt64 = 1 << 0 | 1 << 5 | 1 << 6

    /// How long a client may take until it has said hello, in nanoseconds.
    private static let helloTimeout = 15 * Timestamp.nanosecondsPerSecond

    /// The silence after which a client is asked whether it is there, and the one after which it is not, in nanoseconds
    /// (ESPHome, api_connection.cpp).
    private static let askAfter = 60 * Timestamp.nanosecondsPerSecond
    private static let patience = 150 * Timestamp.nanosecondsPerSecond

    /// The longest name of a client that is kept, in bytes.
    private static let longestName = 64

    /// "Request not supported" (Core Specification 5.3, Vol 3, Part F, 3.4.1.1), the answer to what needs a connection.
    private static let notSupported: UInt64 = 6

    private let identity: Identity
    private var framing: ESPHomeFraming
    private var scanner: Scanner
    private var lastMessage: Timestamp
    private var hasAsked = false

    /// True once the client has said who it is.
    package private(set) var hasExchangedHello = false

    /// The client's name for people; empty before it has said it.
    package private(set) var client = ""

    /// True while the client wants adverts.
    package private(set) var isSubscribed = false

    /// A device at the beginning of a connection.
    ///
    /// - Throws: ``ESPHomeError`` where the library for encryption is missing.
    package init(_ identity: Identity, scanner: Scanner, at time: Timestamp) throws(ESPHomeError) {
        self.identity = identity
        self.scanner = scanner
        lastMessage = time
        framing = try ESPHomeFraming(
            .responder, key: identity.key, name: identity.name, address: identity.addressDigits)
    }

    /// Returns the bytes to send, which are no longer to be sent then.
    package mutating func takeOutput() -> [UInt8] { framing.takeOutput() }

    /// Takes what came.
    ///
    /// - Returns: the reason why the connection is over once the output is sent; nil where it goes on.
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

    /// Lets time pass: asks a client that is silent whether it is there.
    ///
    /// - Returns: the reason why the connection is over; nil where it goes on.
    package mutating func advance(to time: Timestamp) -> ESPHomeError? {
        let silence = time.since(lastMessage)
        guard silence < (hasExchangedHello ? Self.patience : Self.helloTimeout) else {
            return ESPHomeError(.ended, "it has said nothing for \(silence / Timestamp.nanosecondsPerSecond) s")
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

    /// When time has to be let pass again.
    package var deadline: Timestamp {
        lastMessage.advanced(by: hasExchangedHello ? hasAsked ? Self.patience : Self.askAfter : Self.helloTimeout)
    }

    /// Sends a message of adverts to a client that wants them (``ESPHomeAdverts``).
    package mutating func send(adverts: [UInt8]) throws(ESPHomeError) {
        if isSubscribed { try framing.send(.adverts, adverts) }
    }

    /// Sets whether the scanner runs, and tells a client that has the adverts.
    package mutating func set(_ scanner: Scanner) throws(ESPHomeError) {
        guard scanner != self.scanner else { return }
        self.scanner = scanner
        if isSubscribed { try sendScanner() }
    }

    /// Says that the device goes away, so that the client comes back rather than wonders.
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
            // By it a client knows that it has the adverts.
            try sendScanner()
        case .unsubscribe: isSubscribed = false
        // The mode stays: to ask devices for more reveals the machine, and is not for a client to decide.
        case .setMode: try sendScanner()
        // There are none, whose number is zero and need not be said.
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
        // The mode, and the one that is configured, are passive, which is zero.
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
        // Home Assistant shows "9 (ESPHome 4)", with a blank in front where there is no 9.
        content.append(field: 9, ProgramVersion.current)
        content.append(field: 12, "swift-beacon")
        content.append(field: 13, identity.title)
        content.append(field: 15, Self.features)
        content.append(field: 18, identity.addressText)
        content.append(field: 19, identity.key == nil ? 0 : 1)
        return content
    }

    /// What a client asks for.
    private enum Request {
        case hello, authentication, disconnect, ping, deviceInfo, entities, subscribe, unsubscribe, setMode, connections
        case connect(address: UInt64)
        case peripheral(address: UInt64, handle: UInt64)
    }

    /// What came at once.
    private struct Requests {
        /// The most answers at once: a client asks for a dozen things when it connects.
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
            case .setScannerMode: all.append(.setMode)
            case .subscribeConnections: all.append(.connections)
            case .connection: all.append(.connect(address: Self.numbers(content).first))
            case .services, .readCharacteristic, .writeCharacteristic, .readDescriptor, .writeDescriptor, .notify:
                let (address, handle) = Self.numbers(content)
                all.append(.peripheral(address: address, handle: message == .services ? 0 : handle))
            // States, logs and times, of which there are none, and answers.
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
