package import BeaconModel
package import BeaconRadio

/// The adverts that a relay heard in a period of time. A message contains all of them, so a gap between two messages
/// shows a loss.
///
/// The table shows the encoded form. Numbers of variable length are as in protocol buffers (seven bits a byte, the
/// lowest first); all other numbers are little-endian.
///
/// | bytes | content |
/// |---|---|
/// | 2, 1 | the letters `bR`, and the version, 1 |
/// | 4 | a random number that the relay chooses when it starts, since its clock may change with that |
/// | 8 | the end of the period, in microseconds since 1970 by the relay's clock |
/// | variable | the length of the period in microseconds |
/// | variable | the number of receivers; for each a byte with the state (`RadioState`; 16 doubtful, 32 smoothed, 64 if the last row has its time), the name's length and the name in UTF-8, empty for a relay's only receiver |
/// | variable | the number of deaf periods, at most one for each receiver and one for all; for each the receiver's number plus 1, or 0 for all, and its beginning and end, in microseconds before the end of the message's period |
/// | variable | the number of UUIDs, and 16 bytes for each |
/// | variable | the number of transmitters; for each the UUID's number, 2 major, 2 minor, 1 measured power, 1 kind of address, 6 address |
/// | variable | the number of adverts; for each the receiver's number, the transmitter's, the microseconds since the previous advert, or since the beginning of the period for the first (positive 2n, negative -2n-1), 1 signal strength in dBm |
/// | variable | for each receiver with the flag 64, `heardUntil` of its status in microseconds before the end of the period |
///
/// Later versions may append more.
package struct RelayMessage: Hashable, Sendable {
    /// A receiver of a relay.
    package struct Receiver: Hashable, Sendable {
        /// Its name; empty for a relay's only receiver, which has the relay's name.
        package var name: String
        package var status: ReceiverStatus

        /// Creates a receiver from its parts.
        package init(name: String, status: ReceiverStatus) {
            self.name = name
            self.status = status
        }
    }

    /// A period in which a receiver was deaf.
    package struct Deafness: Hashable, Sendable {
        package var from: Timestamp
        package var to: Timestamp
        /// The receiver's number; nil for all.
        package var receiver: Int?

        /// Creates a period from its parts.
        package init(from: Timestamp, to: Timestamp, receiver: Int?) {
            self.from = from
            self.to = to
            self.receiver = receiver
        }
    }

    /// The first bytes.
    static let magic: [UInt8] = [UInt8(ascii: "b"), UInt8(ascii: "R"), 1]

    /// The most receivers: as many as a network has places for by default.
    package static let maximumReceivers = 200

    /// A microsecond in nanoseconds. Finer times are meaningless, since an advert itself takes 0.4 ms.
    static let microsecond: Int64 = 1000

    /// A number that changes with each start of the relay.
    package var session: UInt32
    /// The beginning of the period.
    package var from: Timestamp
    /// The end of the period.
    package var to: Timestamp
    /// The receivers, each with its current state. Their numbers do not change.
    package var receivers: [Receiver] = []
    /// The deaf periods, including earlier ones.
    package var deafness: [Deafness] = []
    /// The adverts, in order. Decoded times are whole microseconds.
    package var sightings: [Sighting] = []

    /// Creates a message without adverts.
    package init(session: UInt32, from: Timestamp, to: Timestamp) {
        self.session = session
        self.from = from
        self.to = to
    }

    // MARK: - Writing

    private struct Transmitter: Hashable {
        var identity: BeaconIdentity
        var address: DeviceAddress
        var power: Int8
    }

    /// Returns the encoded message.
    package func encoded() -> [UInt8] {
        var uuids: [ProximityUUID: Int] = [:]
        var transmitters: [Transmitter: Int] = [:]
        var (uuidBytes, transmitterBytes, advertBytes): ([UInt8], [UInt8], [UInt8]) = ([], [], [])
        advertBytes.reserveCapacity(sightings.count * 6)
        let end = to.nanoseconds / Self.microsecond
        let start = from.nanoseconds / Self.microsecond
        var before = start
        for sighting in sightings {
            let key = Transmitter(
                identity: sighting.identity, address: sighting.address, power: sighting.measuredPower)
            var number = transmitters[key] ?? -1
            if number < 0 {
                number = transmitters.count
                transmitters[key] = number
                var uuid = uuids[key.identity.uuid] ?? -1
                if uuid < 0 {
                    uuid = uuids.count
                    uuids[key.identity.uuid] = uuid
                    uuidBytes.append(bigEndian: key.identity.uuid.high)
                    uuidBytes.append(bigEndian: key.identity.uuid.low)
                }
                transmitterBytes.append(variable: UInt64(uuid))
                transmitterBytes.append(littleEndian: key.identity.major, count: 2)
                transmitterBytes.append(littleEndian: key.identity.minor, count: 2)
                transmitterBytes.append(UInt8(bitPattern: key.power))
                transmitterBytes.append(key.address.kind.rawValue)
                transmitterBytes.append(littleEndian: key.address.bits, count: 6)
            }
            let time = sighting.time.nanoseconds / Self.microsecond
            advertBytes.append(variable: UInt64(sighting.receiver.index))
            advertBytes.append(variable: UInt64(number))
            advertBytes.append(variable: (time - before).zigzag)
            advertBytes.append(UInt8(bitPattern: sighting.rssi.rawValue))
            before = time
        }
        var bytes = Self.magic
        bytes.reserveCapacity(64 + uuidBytes.count + transmitterBytes.count + advertBytes.count)
        bytes.append(littleEndian: session, count: 4)
        bytes.append(littleEndian: UInt64(end), count: 8)
        bytes.append(variable: UInt64(max(0, end - start)))
        bytes.append(variable: UInt64(receivers.count))
        for receiver in receivers {
            let status = receiver.status
            bytes.append(status.state.rawValue | (status.isDoubtful ? 16 | 64 : 0) | (status.isSmoothed ? 32 : 0))
            bytes.append(variable: UInt64(receiver.name.utf8.count))
            bytes.append(contentsOf: receiver.name.utf8)
        }
        bytes.append(variable: UInt64(deafness.count))
        for stretch in deafness {
            bytes.append(variable: UInt64((stretch.receiver ?? -1) + 1))
            bytes.append(variable: UInt64(max(0, end - stretch.from.nanoseconds / Self.microsecond)))
            bytes.append(variable: UInt64(max(0, end - stretch.to.nanoseconds / Self.microsecond)))
        }
        bytes.append(variable: UInt64(uuids.count))
        bytes.append(contentsOf: uuidBytes)
        bytes.append(variable: UInt64(transmitters.count))
        bytes.append(contentsOf: transmitterBytes)
        bytes.append(variable: UInt64(sightings.count))
        bytes.append(contentsOf: advertBytes)
        for receiver in receivers where receiver.status.isDoubtful {
            bytes.append(variable: UInt64(max(0, end - receiver.status.heardUntil.nanoseconds / Self.microsecond)))
        }
        return bytes
    }

    // MARK: - Reading

    /// Reads a message.
    ///
    /// - Throws: the reason why the message cannot be read.
    package init(_ bytes: RawSpan) throws(MessageFault) {
        guard bytes.byteCount >= 3, bytes.byte(0) == Self.magic[0], bytes.byte(1) == Self.magic[1] else {
            throw MessageFault("a relay's message", "it is not one; use other topics for other gateways")
        }
        guard bytes.byte(2) == Self.magic[2] else {
            throw MessageFault("a relay's message", "it is from a later version of swift-beacon; update this one")
        }
        var reader = RelayReader(position: 3)
        do throws(RelayReader.Damage) {
            self.init(
                session: UInt32(truncatingIfNeeded: try reader.number(of: 4, in: bytes)), from: .zero, to: .zero)
            try readStretch(&reader, bytes)
            try readReceivers(&reader, bytes)
            try readSightings(&reader, bytes)
            for number in receivers.indices where receivers[number].status.heardUntil == .latest {
                receivers[number].status.heardUntil = try time(reader.variable(in: bytes), before: to)
            }
        } catch {
            throw MessageFault("a relay's message", "it is damaged, or its end is missing")
        }
    }

    private mutating func readStretch(_ reader: inout RelayReader, _ bytes: RawSpan) throws(RelayReader.Damage) {
        to = try Self.time(microseconds: Int64(truncatingIfNeeded: try reader.number(of: 8, in: bytes)))
        from = try time(reader.variable(in: bytes), before: to)
    }

    private mutating func readReceivers(_ reader: inout RelayReader, _ bytes: RawSpan) throws(RelayReader.Damage) {
        let count = try reader.count(of: 2, in: bytes)
        guard count <= Self.maximumReceivers else { throw RelayReader.Damage() }
        for _ in 0..<count {
            let flags = UInt8(truncatingIfNeeded: try reader.number(of: 1, in: bytes))
            let length = try reader.count(of: 1, in: bytes)
            let name = bytes.text(reader.position..<reader.position + length)
            reader.position += length
            // A state from a later version counts as unknown. The time follows at the end.
            let status = ReceiverStatus(
                RadioState(rawValue: flags & 15) ?? .unknown, isDoubtful: flags & 16 != 0, isSmoothed: flags & 32 != 0,
                heardUntil: flags & 64 != 0 ? .latest : .zero)
            receivers.append(Receiver(name: name, status: status))
        }
        guard Set(receivers.lazy.map(\.name)).count == count else { throw RelayReader.Damage() }
        let stretches = try reader.count(of: 3, in: bytes)
        // One for each receiver, and one for all.
        guard stretches <= count + 1 else { throw RelayReader.Damage() }
        for _ in 0..<stretches {
            let number = try reader.variable(in: bytes)
            guard number <= receivers.count else { throw RelayReader.Damage() }
            let start = try time(reader.variable(in: bytes), before: to)
            let end = try time(reader.variable(in: bytes), before: to)
            guard start <= end else { throw RelayReader.Damage() }
            deafness.append(Deafness(from: start, to: end, receiver: number == 0 ? nil : Int(number) - 1))
        }
    }

    private mutating func readSightings(_ reader: inout RelayReader, _ bytes: RawSpan) throws(RelayReader.Damage) {
        var uuids: [ProximityUUID] = []
        for _ in 0..<(try reader.count(of: 16, in: bytes)) {
            let high = try reader.number(of: 8, in: bytes).byteSwapped
            uuids.append(ProximityUUID(high: high, low: try reader.number(of: 8, in: bytes).byteSwapped))
        }
        var transmitters: [Transmitter] = []
        for _ in 0..<(try reader.count(of: 13, in: bytes)) {
            let uuid = try reader.variable(in: bytes)
            guard uuid < uuids.count else { throw RelayReader.Damage() }
            let major = UInt16(truncatingIfNeeded: try reader.number(of: 2, in: bytes))
            let minor = UInt16(truncatingIfNeeded: try reader.number(of: 2, in: bytes))
            let power = Int8(truncatingIfNeeded: try reader.number(of: 1, in: bytes))
            let kind = UInt8(truncatingIfNeeded: try reader.number(of: 1, in: bytes))
            transmitters.append(
                Transmitter(
                    identity: BeaconIdentity(uuid: uuids[Int(uuid)], major: major, minor: minor),
                    address: DeviceAddress(
                        bits: try reader.number(of: 6, in: bytes), kind: .init(rawValue: kind) ?? .unspecified),
                    power: power))
        }
        var before = from.nanoseconds / Self.microsecond
        let count = try reader.count(of: 4, in: bytes)
        sightings.reserveCapacity(count)
        for _ in 0..<count {
            let receiver = try reader.variable(in: bytes)
            let number = try reader.variable(in: bytes)
            let (time, isOver) = before.addingReportingOverflow(Int64(zigzag: try reader.variable(in: bytes)))
            let rssi = Int8(truncatingIfNeeded: try reader.number(of: 1, in: bytes))
            guard receiver < receivers.count, number < transmitters.count, !isOver else { throw RelayReader.Damage() }
            before = time
            let transmitter = transmitters[Int(number)]
            sightings.append(
                Sighting(
                    time: try Self.time(microseconds: time), receiver: ReceiverID(UInt16(receiver)),
                    address: transmitter.address, identity: transmitter.identity,
                    measuredPower: transmitter.power, rssi: SignalStrength(rawValue: rssi)))
        }
    }

    private static func time(microseconds: Int64) throws(RelayReader.Damage) -> Timestamp {
        guard microseconds >= 0, microseconds <= Timestamp.latest.nanoseconds / microsecond else {
            throw RelayReader.Damage()
        }
        return Timestamp(nanoseconds: microseconds * microsecond)
    }

    private func time(_ microseconds: UInt64, before time: Timestamp) throws(RelayReader.Damage) -> Timestamp {
        let end = time.nanoseconds / Self.microsecond
        guard microseconds <= UInt64(end) else { throw RelayReader.Damage() }
        return try Self.time(microseconds: end - Int64(microseconds))
    }
}

/// A position in the bytes of a relay's message, and the functions that read numbers there.
private struct RelayReader {
    /// The error of malformed bytes.
    struct Damage: Error {}

    var position: Int

    /// Reads a number of `count` bytes, the lowest first.
    mutating func number(of count: Int, in bytes: RawSpan) throws(Damage) -> UInt64 {
        guard bytes.byteCount - position >= count else { throw Damage() }
        var number: UInt64 = 0
        for index in 0..<count { number |= UInt64(bytes.byte(position + index)) << UInt64(8 * index) }
        position += count
        return number
    }

    /// Reads a number of variable length.
    mutating func variable(in bytes: RawSpan) throws(Damage) -> UInt64 {
        guard let number = bytes.variable(at: &position, before: bytes.byteCount) else { throw Damage() }
        return number
    }

    /// Reads the number of elements that follow. Each has at least `size` bytes, so that a false number does not
    /// reserve memory.
    mutating func count(of size: Int, in bytes: RawSpan) throws(Damage) -> Int {
        let count = try variable(in: bytes)
        guard count <= UInt64((bytes.byteCount - position) / size) else { throw Damage() }
        return Int(count)
    }
}

extension RawSpan {
    fileprivate func byte(_ offset: Int) -> UInt8 { unsafeLoad(fromByteOffset: offset, as: UInt8.self) }
}

extension [UInt8] {
    fileprivate mutating func append(littleEndian number: some FixedWidthInteger, count: Int) {
        for index in 0..<count { append(UInt8(truncatingIfNeeded: number >> (8 * index))) }
    }

    fileprivate mutating func append(bigEndian number: UInt64) {
        append(littleEndian: number.byteSwapped, count: 8)
    }
}
