import BeaconModel

extension Controller {
    /// The unit of intervals, in nanoseconds.
    private static let slot: Int64 = 625_000

    /// The capacity of a legacy advert, in bytes.
    static let legacyCapacity = 31

    /// The reported transmit power, in dBm.
    static let transmitPower: UInt8 = 0

    /// Carries out the commands of legacy advertising (Core Specification 5.3, Vol 4, Part E, 7.8.5 to 7.8.9).
    ///
    /// - Returns: nil for any other command.
    mutating func advertise(
        _ opcode: Opcode, _ parameters: inout ParameterReader, at time: Int64
    ) throws(Status) -> [UInt8]? {
        var set = state.sets[AdvertisingSet.legacyHandle] ?? AdvertisingSet()
        switch opcode {
        case .setAdvertisingParameters:
            guard !set.isEnabled else { throw .commandDisallowed }
            let least = try parameters.number16()
            let most = try parameters.number16()
            let kind = try parameters.byte()
            // 20 ms to 10.24 s.
            guard 0x20...0x4000 ~= least, least <= most, kind <= 4 else { throw .invalidParameters }
            set.interval = Int64(least) * Self.slot
            // The numbers differ from those in reports: 1 and 4 are directed, 0 connectable, 2 scannable, 3 neither.
            set.form = AdvertisingForm(AdvertisingReport.Kind(rawValue: kind == 4 ? 1 : kind) ?? .nonConnectable)
            set.usesRandomAddress = try parameters.byte() & 1 == 1
        case .readAdvertisingPower: return [Self.transmitPower]
        case .setAdvertisingData: set.data = try legacyData(&parameters)
        case .setScanResponseData: set.scanResponse = try legacyData(&parameters)
        case .setAdvertisingEnable:
            if try parameters.flag() {
                guard !set.usesRandomAddress || state.randomAddress != nil else { throw .invalidParameters }
                set.enable(at: time)
            } else {
                set.disable()
            }
        default: return nil
        }
        state.sets[AdvertisingSet.legacyHandle] = set
        return []
    }

    /// Reads a length and 31 bytes, of which the first `length` count.
    private func legacyData(_ parameters: inout ParameterReader) throws(Status) -> [UInt8] {
        let count = Int(try parameters.byte())
        guard count <= Self.legacyCapacity else { throw .invalidParameters }
        return Array(try parameters.bytes(Self.legacyCapacity).prefix(count))
    }

    /// Sends the adverts that are due.
    mutating func transmit(at time: Int64) -> [AirPacket] {
        var packets: [AirPacket] = []
        for handle in state.sets.keys.sorted() {
            guard var set = state.sets[handle], let next = set.next else { continue }
            if let end = set.end, end <= time {
                set.disable()
                state.sets[handle] = set
                reportEnd(of: handle, .advertisingTimeout, sent: set.sent)
                continue
            }
            guard next <= time else { continue }
            let address = set.usesRandomAddress ? set.randomAddress ?? state.randomAddress : configuration.address
            packets.append(
                AirPacket(
                    form: set.form, address: address ?? configuration.address, data: set.data,
                    scanResponse: set.scanResponse))
            counters.transmissions += 1
            set.sent += 1
            let delay = Int64.random(in: 0...AdvertisingSet.tenMilliseconds, using: &chance)
            // After a delay adverts are skipped, since no controller sends them later.
            set.next = max(next + set.interval + delay, time + 1)
            if let limit = set.limit, set.sent >= limit {
                set.disable()
                reportEnd(of: handle, .limitReached, sent: set.sent)
            }
            state.sets[handle] = set
        }
        return packets
    }

    /// Sends LE Advertising Set Terminated (7.7.65.18), without a connection.
    private mutating func reportEnd(of handle: AdvertisingSet.Handle, _ status: Status, sent: Int) {
        leEvent(0x12, [status.rawValue, UInt8(truncatingIfNeeded: handle), 0, 0, UInt8(truncatingIfNeeded: sent)])
    }

    /// The number of enabled sets.
    public var advertisingCount: Int { state.sets.values.count(where: \.isEnabled) }
}
