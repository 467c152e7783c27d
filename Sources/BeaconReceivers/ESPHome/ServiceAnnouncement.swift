import BeaconSupport

// The counterpart of `ServiceQuestion`: the part of multicast DNS (RFC 6762) and service discovery (RFC 6763) that
// announces ESPHome devices.

/// The announcement of ESPHome devices in the local network, and the answers to clients that search for them.
package struct ServiceAnnouncement: Sendable {
    /// A device to announce.
    package struct Service: Hashable, Sendable {
        /// Its name in the network.
        package var name: String
        /// The port of its API.
        package var port: UInt16
        /// The properties that clients read before they connect, as `key=value`.
        package var properties: [String]

        /// Creates the announcement of a device.
        package init(_ identity: ESPHomeDevice.Identity, port: UInt16) {
            name = identity.name
            self.port = port
            // The same properties as the firmware's (ESPHome, mdns_component.cpp). Home Assistant needs the address.
            properties = [
                "friendly_name=\(identity.title)", "version=\(ESPHomeDevice.version)",
                "mac=\(identity.addressDigits)", "platform=linux", "board=swift-beacon",
                "project_name=\(identity.project)", "project_version=\(ProgramVersion.current)",
            ]
            if identity.key != nil { properties.append("api_encryption=Noise_NNpsk0_25519_ChaChaPoly_SHA256") }
        }

        /// The name of the service.
        var instance: String { "\(name).\(ServiceQuestion.service)" }
        /// The name of the host: the device's name, since a machine may have several devices.
        var host: String { "\(name).local" }
    }

    /// The answers to a question.
    package struct Answers: Hashable, Sendable {
        /// The messages to send.
        package var messages: [[UInt8]] = []
        /// True to send them to the asking client, false to send them to the group.
        package var isUnicast: Bool
    }

    /// The devices.
    package var services: [Service] = []

    /// The lifetimes of answers in seconds: for records that depend on the address, and for all others (RFC 6762, 10).
    private static let shortTime: UInt32 = 120
    private static let longTime: UInt32 = 4500
    /// The lifetime for clients that do not support multicast DNS (RFC 6762, 6.7).
    private static let legacyTime: UInt32 = 10

    /// The most questions in a message.
    private static let maximumQuestions = 64

    /// The question for all kinds of services (RFC 6763, 9).
    private static let allServices = "_services._dns-sd._udp.local"

    /// Creates announcements without a device.
    package init() {}

    /// Returns the messages that announce the devices. Send them twice, a second apart (RFC 6762, 8.3).
    ///
    /// - Parameters:
    ///   - addresses: the machine's addresses in the network that receives the messages, four bytes each.
    ///   - isEnd: true to withdraw the devices (RFC 6762, 10.1).
    package func messages(addresses: [[UInt8]], isEnd: Bool = false) -> [[UInt8]] {
        services.map { service in
            var message = Message()
            message.add(records(of: service, addresses), isEnd ? 0 : nil, to: \.answers)
            return message.bytes
        }
    }

    /// Returns the answers to a message.
    ///
    /// - Parameters:
    ///   - bytes: the message.
    ///   - port: the port that it came from.
    ///   - addresses: the machine's addresses in the network that the message came from, four bytes each.
    /// - Returns: nil if there is nothing to answer.
    package func answers(to bytes: RawSpan, from port: UInt16, addresses: [[UInt8]]) -> Answers? {
        guard let query = Query(bytes, maximumQuestions: Self.maximumQuestions) else { return nil }
        let isLegacy = port != ServiceQuestion.port
        // A legacy query has one question (RFC 6762, 6.7). Each answer repeats it.
        guard !isLegacy || query.questions.count == 1 else { return nil }
        var answers = Answers(isUnicast: isLegacy || query.wantsUnicast)
        let lifetime = isLegacy ? Self.legacyTime : nil
        for (index, service) in services.enumerated() {
            var message = Message(query: isLegacy ? query : nil)
            let (pointer, own, host) = (
                Record.pointer(to: service), [Record.service(service), .text(service)],
                addresses.map { Record.address($0, of: service) }
            )
            for question in query.questions {
                let (name, kind) = (question.name, question.kind)
                switch name {
                case ServiceQuestion.service where kind == .pointer || kind == .any:
                    guard !query.known.contains(service.instance.lowercased()) else { continue }
                    message.add([pointer], lifetime, to: \.answers)
                    message.add(own + host, lifetime, to: \.others)
                case service.instance.lowercased():
                    message.add(own.filter { kind == .any || $0.kind == kind }, lifetime, to: \.answers)
                    message.add(host, lifetime, to: \.others)
                case service.host.lowercased() where kind == .address || kind == .any:
                    message.add(host, lifetime, to: \.answers)
                case Self.allServices where (kind == .pointer || kind == .any) && index == 0:
                    message.add([.kind], lifetime, to: \.answers)
                default: break
                }
            }
            if !message.answers.isEmpty { answers.messages.append(message.bytes) }
        }
        return answers.messages.isEmpty ? nil : answers
    }

    /// Returns the name of a device that another machine claims as well; nil if there is no conflict.
    ///
    /// - Parameter addresses: the addresses of this machine, which receives its own messages.
    package func conflict(in bytes: RawSpan, addresses: [[UInt8]]) -> String? {
        guard let answer = ServiceAnswer(bytes) else { return nil }
        for (name, other) in answer.services {
            for service in services where service.instance.lowercased() == name.lowercased() {
                let address = answer.addresses[other.host]
                let isElsewhere = address.map { !addresses.contains($0) } ?? false
                if isElsewhere || other.host != service.host.lowercased() || other.port != service.port {
                    return service.name
                }
            }
        }
        return nil
    }

    private func records(of service: Service, _ addresses: [[UInt8]]) -> [Record] {
        [.pointer(to: service), .service(service), .text(service)] + addresses.map { .address($0, of: service) }
    }

    /// A resource record.
    private struct Record: Hashable {
        var name: String
        var kind: ServiceQuestion.Kind
        /// True if no other machine has records of this name and kind.
        var isUnique = true
        var lifetime: UInt32
        var data: [UInt8]

        static func pointer(to service: Service) -> Record {
            Record(
                name: ServiceQuestion.service, kind: .pointer, isUnique: false, lifetime: longTime,
                data: .init(name: service.instance))
        }

        /// The answer to the question for all kinds of services.
        static var kind: Record {
            Record(
                name: allServices, kind: .pointer, isUnique: false, lifetime: longTime,
                data: .init(name: ServiceQuestion.service))
        }

        static func service(_ service: Service) -> Record {
            // No priority and no weight.
            Record(
                name: service.instance, kind: .service, lifetime: shortTime,
                data: [0, 0, 0, 0] + service.port.bytes + .init(name: service.host))
        }

        static func text(_ service: Service) -> Record {
            Record(
                name: service.instance, kind: .text, lifetime: longTime,
                data: service.properties.flatMap { property -> [UInt8] in
                    let bytes = Array(property.utf8.prefix(255))
                    return [UInt8(bytes.count)] + bytes
                })
        }

        static func address(_ address: [UInt8], of service: Service) -> Record {
            Record(name: service.host, kind: .address, lifetime: shortTime, data: address)
        }
    }

    /// A message with answers or announcements.
    private struct Message {
        private var head: [UInt8] = [0, 0]
        private var questions: [UInt8] = []
        private var questionCount: UInt16 = 0
        private let isLegacy: Bool
        var answers: [(Record, UInt32)] = []
        var others: [(Record, UInt32)] = []

        /// Creates a message. For clients that do not support multicast DNS, it repeats the query.
        init(query: Query? = nil) {
            isLegacy = query != nil
            guard let query else { return }
            head = query.number
            questions = query.asked
            questionCount = UInt16(query.questions.count)
        }

        /// Adds records, except those that the message already has.
        mutating func add(
            _ records: [Record], _ lifetime: UInt32?, to place: WritableKeyPath<Message, [(Record, UInt32)]>
        ) {
            for record in records where !(answers + others).contains(where: { $0.0 == record }) {
                self[keyPath: place].append((record, min(record.lifetime, lifetime ?? .max)))
            }
        }

        var bytes: [UInt8] {
            // Flags of an authoritative answer.
            var bytes = head + [0x84, 0] + questionCount.bytes + UInt16(answers.count).bytes + [0, 0]
            bytes += UInt16(others.count).bytes + questions
            for (record, lifetime) in answers + others {
                bytes += [UInt8](name: record.name) + record.kind.rawValue.bytes
                // Class 1. The highest bit means that the set of records is complete (RFC 6762, 10.2).
                bytes += [record.isUnique && !isLegacy ? 0x80 : 0, 1]
                bytes += UInt16(truncatingIfNeeded: lifetime >> 16).bytes + UInt16(truncatingIfNeeded: lifetime).bytes
                bytes += UInt16(record.data.count).bytes + record.data
            }
            return bytes
        }
    }

    /// A received query.
    private struct Query {
        var number: [UInt8]
        var questions: [(name: String, kind: ServiceQuestion.Kind)] = []
        /// The encoded questions, for answers that repeat them.
        var asked: [UInt8] = []
        var wantsUnicast = true
        /// The services that the client already knows, in lower case.
        var known: Set<String> = []

        init?(_ bytes: RawSpan, maximumQuestions: Int) {
            guard bytes.byteCount >= 12, bytes.number(at: 2) & 0xF800 == 0 else { return nil }
            number = UInt16(bytes.number(at: 0)).bytes
            let count = bytes.number(at: 4)
            guard (1...maximumQuestions).contains(count) else { return nil }
            var position = 12
            for _ in 0..<count {
                guard let name = bytes.labels(at: &position), position + 4 <= bytes.byteCount else { return nil }
                let (kind, group) = (UInt16(bytes.number(at: position)), bytes.number(at: position + 2))
                position += 4
                if group & 0x8000 == 0 { wantsUnicast = false }
                // The class of the internet, or any.
                let isOurs = [1, 255].contains(group & 0x7FFF)
                guard isOurs, let kind = ServiceQuestion.Kind(rawValue: kind) else { continue }
                questions.append((name.lowercased(), kind))
                asked += [UInt8](name: name) + kind.rawValue.bytes + [0, 1]
            }
            for _ in 0..<min(bytes.number(at: 6), 256) {
                guard bytes.labels(at: &position) != nil, position + 10 <= bytes.byteCount else { return }
                var data = position + 10
                let end = data + bytes.number(at: position + 8)
                guard end <= bytes.byteCount else { return }
                // At least half of the lifetime must be left; otherwise the record counts as unknown (RFC 6762, 7.1).
                let lifetime = bytes.number(at: position + 4) << 16 | bytes.number(at: position + 6)
                let isPointer = bytes.number(at: position) == ServiceQuestion.Kind.pointer.rawValue
                if isPointer, lifetime >= ServiceAnnouncement.longTime / 2, let name = bytes.labels(at: &data) {
                    known.insert(name.lowercased())
                }
                position = end
            }
        }
    }
}

extension [UInt8] {
    /// Encodes a name: each label with its length.
    init(name: String) {
        self = name.split(separator: ".").flatMap { label -> [UInt8] in
            let bytes = Array(label.utf8.prefix(63))
            return [UInt8(bytes.count)] + bytes
        }
        append(0)
    }
}

extension UInt16 {
    /// The two bytes, most significant first.
    fileprivate var bytes: [UInt8] { [UInt8(truncatingIfNeeded: self >> 8), UInt8(truncatingIfNeeded: self)] }
}
