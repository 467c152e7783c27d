package import BeaconModel

/// Adverts and steps of time as bytes, in order.
///
/// Each piece begins with a number, with seven bits a byte. 0, 1 and 2 are times: up to a time, up to and including it,
/// and an advert that is not recorded. 3 introduces a device with its beacon. A larger number is an advert of device
/// *n* − 4: its receiver, and its signal strength. All but a device end with the nanoseconds since the last time, which
/// may be negative.
package struct CoreTraffic: Hashable, Sendable {
    /// A piece of the traffic.
    package enum Piece: Hashable, Sendable {
        case advert(Sighting)
        /// A step of time up to but excluding a time.
        case upTo(Timestamp)
        /// A step of time up to and including a time.
        case to(Timestamp)
        /// The time of an advert that is not recorded.
        case passed(Timestamp)
    }

    private struct Device: Hashable {
        var address: DeviceAddress
        var identity: BeaconIdentity
        var measuredPower: Int8
    }

    private static let upTo: UInt64 = 0
    private static let to: UInt64 = 1
    private static let passed: UInt64 = 2
    private static let device: UInt64 = 3
    private static let firstAdvert: UInt64 = 4

    package private(set) var bytes: [UInt8] = []
    private var devices: [Device: UInt64] = [:]
    private var time: Int64 = 0

    package init() {}

    package var isEmpty: Bool { bytes.isEmpty }

    // MARK: - Writing

    private mutating func add(_ sighting: Sighting) {
        let device = Device(
            address: sighting.address, identity: sighting.identity, measuredPower: sighting.measuredPower)
        let number = devices[device] ?? introduce(device)
        write(Self.firstAdvert + number)
        write(UInt64(sighting.receiver.index))
        bytes.append(UInt8(bitPattern: sighting.rssi.rawValue))
        write(sighting.time)
    }

    package mutating func add(_ piece: Piece) {
        switch piece {
        case .advert(let sighting): add(sighting)
        case .upTo(let time): write(Self.upTo, time)
        case .to(let time): write(Self.to, time)
        case .passed(let time): write(Self.passed, time)
        }
    }

    private mutating func introduce(_ device: Device) -> UInt64 {
        let number = UInt64(devices.count)
        devices[device] = number
        write(Self.device)
        write(device.address.word)
        write(device.identity.uuid.high)
        write(device.identity.uuid.low)
        write(UInt64(device.identity.major))
        write(UInt64(device.identity.minor))
        bytes.append(UInt8(bitPattern: device.measuredPower))
        return number
    }

    private mutating func write(_ kind: UInt64, _ time: Timestamp) {
        write(kind)
        write(time)
    }

    private mutating func write(_ time: Timestamp) {
        let difference = time.nanoseconds &- self.time
        self.time = time.nanoseconds
        write(UInt64(bitPattern: difference << 1 ^ difference >> 63))
    }

    private mutating func write(_ number: UInt64) {
        var rest = number
        while rest > 0x7F {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }

    // MARK: - Reading

    /// Passes each piece of encoded traffic to a closure, in order.
    ///
    /// - Returns: false if the bytes are no traffic; the pieces before the fault were passed.
    package static func read(_ bytes: some Sequence<UInt8>, _ body: (Piece) throws -> Void) rethrows -> Bool {
        var reader = Reader(bytes: Array(bytes))
        while let piece = reader.next() { try body(piece) }
        return reader.isAtEnd
    }

    private struct Reader {
        let bytes: [UInt8]
        var place = 0
        var devices: [Device] = []
        var time: Int64 = 0

        var isAtEnd: Bool { place == bytes.count }

        mutating func next() -> Piece? {
            let begin = place
            let piece = read()
            if piece == nil { place = begin }
            return piece
        }

        private mutating func read() -> Piece? {
            while let kind = number() {
                switch kind {
                case CoreTraffic.upTo: return stamp().map { .upTo($0) }
                case CoreTraffic.to: return stamp().map { .to($0) }
                case CoreTraffic.passed: return stamp().map { .passed($0) }
                case CoreTraffic.device:
                    guard let device = device() else { return nil }
                    devices.append(device)
                default:
                    let index = kind - CoreTraffic.firstAdvert
                    guard index < UInt64(devices.count), let receiver = number(), receiver <= UInt16.max,
                        let rssi = byte(), let time = stamp()
                    else { return nil }
                    let device = devices[Int(index)]
                    return .advert(
                        Sighting(
                            time: time, receiver: ReceiverID(UInt16(receiver)), address: device.address,
                            identity: device.identity, measuredPower: device.measuredPower,
                            rssi: SignalStrength(rawValue: Int8(bitPattern: rssi))))
                }
            }
            return nil
        }

        private mutating func byte() -> UInt8? {
            guard place < bytes.count else { return nil }
            defer { place += 1 }
            return bytes[place]
        }

        private mutating func number() -> UInt64? {
            var (number, shift): (UInt64, UInt64) = (0, 0)
            while let next = byte(), shift < 64 {
                number |= UInt64(next & 0x7F) << shift
                if next < 0x80 { return number }
                shift += 7
            }
            return nil
        }

        private mutating func stamp() -> Timestamp? {
            guard let raw = number() else { return nil }
            time &+= Int64(bitPattern: raw >> 1) ^ -Int64(bitPattern: raw & 1)
            return Timestamp(nanoseconds: time)
        }

        private mutating func device() -> Device? {
            guard let address = number(), let high = number(), let low = number(), let major = number(),
                let minor = number(), major <= UInt16.max, minor <= UInt16.max, let power = byte()
            else { return nil }
            return Device(
                address: DeviceAddress(word: address),
                identity: BeaconIdentity(
                    uuid: ProximityUUID(high: high, low: low), major: UInt16(major), minor: UInt16(minor)),
                measuredPower: Int8(bitPattern: power))
        }
    }
}
