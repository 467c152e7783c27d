import BeaconModel

@testable import LinuxRadio

/// A controller from a session's point of view: it answers commands and keeps their effects.
struct VirtualController {
    /// True if it has extended commands.
    let isExtended: Bool
    let advertisingSets: UInt8
    /// False if it does not answer.
    var isSilent: Bool
    /// The commands that it refuses, with the status.
    var refusals: [HCIOpcode: HCIStatus] = [:]

    /// True if only legacy commands work, as after the first of them (Core Specification 5.3, Vol 4, Part E, 3.1.1).
    var isHeldToLegacy = false

    /// The event masks lost in a reset without the kernel's knowledge.
    private(set) var maskedEvents: Set<HCIOpcode> = []

    private(set) var isScanning = false
    private(set) var isActive = false
    private(set) var window: UInt16 = 0
    private(set) var filtersDuplicates = false
    private(set) var randomAddress: [UInt8] = []
    /// The adverts on the air, by set; the legacy advert is number 255.
    private(set) var onAir: [UInt8: [UInt8]] = [:]
    private var data: [UInt8: [UInt8]] = [:]
    /// The scan responses by set, for scannable sets.
    private(set) var scanResponses: [UInt8: [UInt8]] = [:]
    private var scannable: Set<UInt8> = []
    private(set) var received: [HCICommand] = []
    /// The address of each set.
    private(set) var setAddresses: [UInt8: [UInt8]] = [:]
    /// An advert that it refuses in every set.
    var refusedData: [UInt8]?

    init(isExtended: Bool = false, advertisingSets: UInt8 = 4, isSilent: Bool = false) {
        self.isExtended = isExtended
        self.advertisingSets = advertisingSets
        self.isSilent = isSilent
    }

    /// Carries out a command.
    ///
    /// - Returns: the answering event, from its code on.
    mutating func receive(_ command: HCICommand) -> [UInt8]? {
        received.append(command)
        guard !isSilent else { return nil }
        let status = refusals[command.opcode] ?? execute(command)
        guard status == .success else { return answer(command, status) }
        switch command.opcode {
        case .readSupportedCommands: return answer(command, status, supportedCommands)
        case .readLEFeatures: return answer(command, status, [0, isExtended ? 0x10 : 0, 0, 0, 0, 0, 0, 0])
        case .readAdvertisingSetCount: return answer(command, status, [advertisingSets])
        default: return answer(command, status)
        }
    }

    mutating func forgetCommands() { received = [] }

    /// Loses all settings, as after a reset.
    mutating func reset() {
        isScanning = false
        window = 0
        randomAddress = []
        onAir = [:]
        data = [:]
    }

    /// Loses all settings and the event masks, without the kernel's knowledge.
    mutating func powerCycle() {
        reset()
        maskedEvents = [.setEventMask, .setLEEventMask]
    }

    /// Restores the event masks, as the kernel does.
    mutating func unmask() { maskedEvents = [] }

    private func answer(_ command: HCICommand, _ status: HCIStatus, _ returned: [UInt8] = []) -> [UInt8] {
        Array(Packets.complete(command.opcode.rawValue, status: status.rawValue, returned).dropFirst())
    }

    private var supportedCommands: [UInt8] {
        var commands = [UInt8](repeating: 0, count: 64)
        if isExtended {
            commands[36] = 0x2C
            commands[37] = 0x60
        }
        return commands
    }

    private mutating func execute(_ command: HCICommand) -> HCIStatus {
        let parameters = command.parameters
        switch command.opcode {
        case .reset: reset()
        case .setEventMask: if parameters[7] & 0x20 != 0 { maskedEvents.remove(command.opcode) }
        case .setLEEventMask:
            if parameters[0] & 0x02 != 0, !isExtended || parameters[1] & 0x10 != 0 {
                maskedEvents.remove(command.opcode)
            }
        case .setExtendedScanParameters where isHeldToLegacy, .setExtendedScanEnable where isHeldToLegacy:
            return .disallowed
        case .setScanParameters, .setExtendedScanParameters:
            // The parameters of an active scan cannot be set (7.8.10).
            guard !isScanning else { return .disallowed }
            // An active scan with a random address needs one (7.8.10, 7.8.64).
            let ownAddress = command.opcode == .setScanParameters ? parameters[5] : parameters[0]
            if command.scanParameters?.isActive == true, ownAddress == 1, randomAddress.isEmpty {
                return HCIStatus(rawValue: 0x12)
            }
            isActive = command.scanParameters?.isActive ?? false
            window = command.scanParameters?.window ?? 0
        case .setScanEnable, .setExtendedScanEnable:
            isScanning = command.isEnabling
            filtersDuplicates = command.filtersDuplicates
        case .setRandomAddress:
            guard !isScanning, onAir[255] == nil else { return .disallowed }
            randomAddress = parameters
        case .setAdvertisingParameters:
            if onAir[255] != nil { return .disallowed }
            if parameters[4] == 0x02 { scannable.insert(255) } else { scannable.remove(255) }
        case .setScanResponseData:
            if scannable.contains(255) { scanResponses[255] = Array(parameters[1...].prefix(Int(parameters[0]))) }
        case .setAdvertisingData:
            data[255] = Array(parameters[1...].prefix(Int(parameters[0])))
            if onAir[255] != nil { onAir[255] = data[255] }
        case .setAdvertisingEnable: onAir[255] = command.isEnabling ? data[255] ?? [] : nil
        case .setExtendedAdvertisingParameters:
            if onAir[parameters[0]] != nil { return .disallowed }
            guard data[parameters[0]] != nil || data.count < Int(advertisingSets) else { return .memoryFull }
            data[parameters[0]] = data[parameters[0]] ?? []
            if parameters[1] & 0x02 != 0 { scannable.insert(parameters[0]) } else { scannable.remove(parameters[0]) }
        case .setAdvertisingSetAddress: setAddresses[parameters[0]] = Array(parameters[1...])
        case .setExtendedAdvertisingData:
            if Array(parameters[4...]) == refusedData { return HCIStatus(rawValue: 0x12) }
            data[parameters[0]] = Array(parameters[4...])
            if onAir[parameters[0]] != nil { onAir[parameters[0]] = data[parameters[0]] }
        case .setExtendedScanResponseData:
            guard scannable.contains(parameters[0]) else { return HCIStatus(rawValue: 0x12) }
            scanResponses[parameters[0]] = Array(parameters[4...])
        case .setExtendedAdvertisingEnable:
            for set in command.advertisingSets {
                guard let advert = data[set] else { return .unknownAdvertisingSet }
                onAir[set] = command.isEnabling ? advert : nil
            }
        case .removeAdvertisingSet:
            guard data.removeValue(forKey: parameters[0]) != nil else { return .unknownAdvertisingSet }
        default: break
        }
        return .success
    }
}
