import BeaconModel

extension Controller {
    /// The capacity of an extended advert: that of one packet on the air is plenty for beacons.
    private static let extendedCapacity = 251

    /// The number of advertising sets.
    private static let setCapacity = 4

    /// The forms of Bluetooth 4 that extended advertising can send (Core Specification 5.3, Vol 4, Part E, 7.8.53).
    private static let legacyForms: Set<UInt16> = [0x10, 0x12, 0x13, 0x15, 0x1D]

    /// Carries out the commands of extended advertising (7.8.52 to 7.8.60).
    ///
    /// - Returns: nil for any other command.
    mutating func advertiseExtended(
        _ opcode: Opcode, _ parameters: inout ParameterReader, at time: Int64
    ) throws(Status) -> [UInt8]? {
        switch opcode {
        case .setExtendedAdvertisingParameters:
            try setParameters(&parameters)
            return [Self.transmitPower]
        case .setAdvertisingSetRandomAddress:
            let handle = try handle(&parameters)
            let address = try parameters.address(.random)
            var set = try known(handle)
            guard !(set.isEnabled && set.form.contains(.connectable)) else { throw .commandDisallowed }
            set.randomAddress = address
            state.sets[handle] = set
        case .setExtendedAdvertisingData: try setData(\.data, &parameters)
        case .setExtendedScanResponseData: try setData(\.scanResponse, &parameters)
        case .setExtendedAdvertisingEnable: try setEnabled(&parameters, at: time)
        case .readMaximumAdvertisingDataLength: return Self.bytes(UInt16(Self.extendedCapacity))
        case .readNumberOfAdvertisingSets: return [UInt8(Self.setCapacity)]
        case .removeAdvertisingSet:
            let handle = try handle(&parameters)
            guard try !known(handle).isEnabled else { throw .commandDisallowed }
            state.sets[handle] = nil
        case .clearAdvertisingSets:
            guard advertisingCount == 0 else { throw .commandDisallowed }
            state.sets.removeAll()
        default: return nil
        }
        return []
    }

    private func handle(_ parameters: inout ParameterReader) throws(Status) -> AdvertisingSet.Handle {
        let handle = try parameters.byte()
        guard handle < 0xF0 else { throw .invalidParameters }
        return AdvertisingSet.Handle(handle)
    }

    private func known(_ handle: AdvertisingSet.Handle) throws(Status) -> AdvertisingSet {
        guard let set = state.sets[handle] else { throw .unknownAdvertisingIdentifier }
        return set
    }

    private mutating func setParameters(_ parameters: inout ParameterReader) throws(Status) {
        let handle = try handle(&parameters)
        var set = state.sets[handle] ?? AdvertisingSet()
        guard !set.isEnabled else { throw .commandDisallowed }
        guard state.sets[handle] != nil || state.sets.count < Self.setCapacity else { throw .memoryCapacityExceeded }
        let form = AdvertisingForm(rawValue: try parameters.number16())
        let isSendable =
            form.contains(.legacy)
            ? Self.legacyForms.contains(form.rawValue) : !form.isSuperset(of: [.connectable, .scannable])
        guard isSendable else { throw .invalidParameters }
        let least = Int64(try parameters.number(bytes: 3))
        let most = Int64(try parameters.number(bytes: 3))
        guard least >= 0x20, least <= most else { throw .invalidParameters }
        _ = try parameters.byte()  // Channels.
        // When sending, bit 3 means high duty cycle; in reports it means a scan response.
        set.form = form.subtracting(.scanResponse)
        set.interval = least * 625_000
        set.usesRandomAddress = try parameters.byte() & 1 == 1
        // The rest: the peer's address, filters, power, and the use of the radio.
        _ = try parameters.bytes(14)
        state.sets[handle] = set
    }

    private mutating func setData(
        _ part: WritableKeyPath<AdvertisingSet, [UInt8]>, _ parameters: inout ParameterReader
    ) throws(Status) {
        let handle = try handle(&parameters)
        var set = try known(handle)
        // 0 is a middle piece, 1 the first, 2 the last, 3 the complete data, 4 unchanged data.
        let operation = try parameters.byte()
        _ = try parameters.byte()  // Whether the controller may cut it into pieces on the air.
        let count = Int(try parameters.byte())
        let piece = try parameters.bytes(count)
        guard operation <= 4 else { throw .invalidParameters }
        guard !set.isEnabled || operation >= 3 else { throw .commandDisallowed }
        guard operation < 4 else { return }
        let data = operation == 1 || operation == 3 ? piece : set[keyPath: part] + piece
        guard !set.form.contains(.legacy) || (operation == 3 && data.count <= Self.legacyCapacity) else {
            throw .invalidParameters
        }
        guard data.count <= Self.extendedCapacity else { throw .memoryCapacityExceeded }
        set[keyPath: part] = data
        state.sets[handle] = set
    }

    private mutating func setEnabled(_ parameters: inout ParameterReader, at time: Int64) throws(Status) {
        let isOn = try parameters.flag()
        let count = try parameters.byte()
        // No sets means all of them, which can only be disabled together.
        guard count > 0 || !isOn else { throw .invalidParameters }
        var changed = state.sets
        if count == 0 {
            for handle in changed.keys { changed[handle]?.disable() }
        }
        for _ in 0..<count {
            let handle = try handle(&parameters)
            let duration = Int64(try parameters.number16())
            let limit = Int(try parameters.byte())
            var set = try known(handle)
            if isOn {
                guard !set.usesRandomAddress || set.randomAddress != nil else { throw .invalidParameters }
                set.enable(
                    at: time, end: duration > 0 ? time + duration * AdvertisingSet.tenMilliseconds : nil,
                    limit: limit > 0 ? limit : nil)
            } else {
                set.disable()
            }
            changed[handle] = set
        }
        state.sets = changed
    }
}
