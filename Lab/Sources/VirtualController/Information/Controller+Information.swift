import BeaconModel

extension Controller {
    /// The capacity of the accept list, in devices.
    private static let acceptListCapacity = 16

    /// The reported manufacturer: the Linux Foundation (Bluetooth Assigned Numbers, 7.1).
    private static let manufacturer: UInt16 = 0x05F1

    /// Carries out the commands for setup, information and computation (Core Specification 5.3, Vol 4, Part E, 7.3, 7.4
    /// and 7.8).
    ///
    /// - Returns: nil for any other command.
    mutating func inform(_ opcode: Opcode, _ parameters: inout ParameterReader) throws(Status) -> [UInt8]? {
        switch opcode {
        case .reset: state = State()
        case .setEventMask: state.eventMask = try parameters.number(bytes: 8)
        case .setLEEventMask: state.leEventMask = try parameters.number(bytes: 8)
        case .readLocalVersion:
            let version = configuration.generation.version
            return [version, 0, 0, version] + Self.bytes(Self.manufacturer) + [0, 0]
        case .readLocalCommands: return SupportedCommands.mask(of: configuration.generation)
        case .readLocalFeatures:
            // LE is supported and BR/EDR is not (Vol 2, Part C, 3.3).
            return [0, 0, 0, 0, 0x60, 0, 0, 0]
        case .readBufferSize:
            // 8 buffers of 251 bytes, as for LE; no synchronous data.
            return Self.bytes(251 as UInt16) + [0] + Self.bytes(8 as UInt16) + [0, 0]
        case .readLEBufferSize: return Self.bytes(251 as UInt16) + [8]
        case .readAddress: return configuration.address.bytes
        case .readLEFeatures: return Self.bytes(configuration.generation.features)
        case .readSupportedStates:
            // All states of the first 42 bits.
            return Self.bytes((1 << 42) - 1 as UInt64)
        case .encrypt:
            // HCI sends the least significant byte first, AES needs the most significant first.
            let key = try parameters.bytes(16)
            let block = try parameters.bytes(16)
            return AES128.encrypt(block.reversed(), key: key.reversed()).reversed()
        case .random: return Self.bytes(chance.next())
        case .setDefaultPHY: return []
        case .setRandomAddress:
            let address = try parameters.address(.random)
            guard !state.scanner.isEnabled, state.sets[AdvertisingSet.legacyHandle]?.isEnabled != true else {
                throw .commandDisallowed
            }
            state.randomAddress = address
        case .readAcceptListSize: return [UInt8(Self.acceptListCapacity)]
        case .clearAcceptList, .addToAcceptList, .removeFromAcceptList:
            try changeAcceptList(opcode, &parameters)
        case .cancelConnection: throw .commandDisallowed
        default: return nil
        }
        return []
    }

    private mutating func changeAcceptList(_ opcode: Opcode, _ parameters: inout ParameterReader) throws(Status) {
        guard !(state.scanner.isEnabled && state.scanner.isLimitedToAcceptList) else { throw .commandDisallowed }
        if opcode == .clearAcceptList {
            state.acceptList.removeAll()
            return
        }
        guard let kind = DeviceAddress.Kind(rawValue: try parameters.byte()) else { throw .invalidParameters }
        let address = try parameters.address(kind)
        if opcode == .removeFromAcceptList {
            state.acceptList.remove(address)
        } else {
            guard state.acceptList.count < Self.acceptListCapacity else { throw .memoryCapacityExceeded }
            state.acceptList.insert(address)
        }
    }

    /// Returns the bytes of a number, least significant first.
    static func bytes<Number: FixedWidthInteger>(_ number: Number) -> [UInt8] {
        (0..<Number.bitWidth / 8).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }
}

extension Opcode {
    /// The bytes in the order of transmission.
    var bytes: [UInt8] { Controller.bytes(rawValue) }
}

extension DeviceAddress {
    /// The bytes in the order of transmission.
    var bytes: [UInt8] { Array(Controller.bytes(bits).prefix(6)) }
}
