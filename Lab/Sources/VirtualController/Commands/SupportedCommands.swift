/// The commands that a controller supports.
enum SupportedCommands {
    /// The position of a command in the bit mask: octet and bit (Core Specification 5.3, Vol 4, Part E, 6.27).
    private typealias Place = (octet: Int, bit: Int)

    private static let places: [Opcode: Place] = [
        .disconnect: (0, 5), .readRemoteVersion: (2, 7), .setEventMask: (5, 6), .reset: (5, 7),
        .readLocalVersion: (14, 3), .readLocalFeatures: (14, 5), .readBufferSize: (14, 7), .readAddress: (15, 1),
        .setLEEventMask: (25, 0), .readLEBufferSize: (25, 1), .readLEFeatures: (25, 2), .setRandomAddress: (25, 4),
        .setAdvertisingParameters: (25, 5), .readAdvertisingPower: (25, 6), .setAdvertisingData: (25, 7),
        .setScanResponseData: (26, 0), .setAdvertisingEnable: (26, 1), .setScanParameters: (26, 2),
        .setScanEnable: (26, 3), .createConnection: (26, 4), .cancelConnection: (26, 5), .readAcceptListSize: (26, 6),
        .clearAcceptList: (26, 7), .addToAcceptList: (27, 0), .removeFromAcceptList: (27, 1), .encrypt: (27, 6),
        .random: (27, 7), .readSupportedStates: (28, 3),
    ]

    private static let extendedPlaces: [Opcode: Place] = [
        .setDefaultPHY: (35, 5), .setAdvertisingSetRandomAddress: (36, 1), .setExtendedAdvertisingParameters: (36, 2),
        .setExtendedAdvertisingData: (36, 3), .setExtendedScanResponseData: (36, 4),
        .setExtendedAdvertisingEnable: (36, 5), .readMaximumAdvertisingDataLength: (36, 6),
        .readNumberOfAdvertisingSets: (36, 7), .removeAdvertisingSet: (37, 0), .clearAdvertisingSets: (37, 1),
        .setExtendedScanParameters: (37, 5), .setExtendedScanEnable: (37, 6), .extendedCreateConnection: (37, 7),
    ]

    /// Returns the bit mask that the controller reports.
    static func mask(of generation: ControllerGeneration) -> [UInt8] {
        var mask = [UInt8](repeating: 0, count: 64)
        for place in places.values { mask[place.octet] |= 1 << place.bit }
        if generation == .extended {
            for place in extendedPlaces.values { mask[place.octet] |= 1 << place.bit }
        }
        return mask
    }

    /// Returns true if a controller of this generation supports a command. The command that reads the mask is always
    /// supported, since the kernel sends it before it knows the mask.
    static func contains(_ opcode: Opcode, in generation: ControllerGeneration) -> Bool {
        opcode == .readLocalCommands || places[opcode] != nil
            || generation == .extended && extendedPlaces[opcode] != nil
    }

    /// Returns the kind of an advertising command. A host may use only one kind between two resets (3.1.1).
    static func kind(of opcode: Opcode) -> AdvertisingCommands? {
        switch opcode {
        case .setAdvertisingParameters, .readAdvertisingPower, .setAdvertisingData, .setScanResponseData,
            .setAdvertisingEnable, .setScanParameters, .setScanEnable, .createConnection:
            .legacy
        case .setExtendedAdvertisingParameters, .setExtendedAdvertisingData, .setExtendedScanResponseData,
            .setExtendedAdvertisingEnable, .readMaximumAdvertisingDataLength, .readNumberOfAdvertisingSets,
            .removeAdvertisingSet, .clearAdvertisingSets, .setExtendedScanParameters, .setExtendedScanEnable,
            .extendedCreateConnection, .setAdvertisingSetRandomAddress:
            .extended
        default: nil
        }
    }
}
