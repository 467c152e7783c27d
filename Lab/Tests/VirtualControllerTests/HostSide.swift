import BeaconModel
import VirtualController

/// The host's side of a controller: sends commands and reads the output.
struct HostSide {
    var controller: Controller

    init(_ generation: ControllerGeneration, duplicates: DuplicateRule = .device) {
        controller = Controller(
            ControllerConfiguration(
                address: .init(bits: 0x02BE_0000_0001, kind: .public), generation: generation,
                duplicateRule: duplicates))
        // All LE events, as Linux requests them.
        command(0x0C01, [UInt8](repeating: 0xFF, count: 8))
        command(0x2001, [UInt8](repeating: 0xFF, count: 8))
    }

    /// Sends a command.
    ///
    /// - Returns: the answer from the status on, or nil without an answer.
    @discardableResult
    mutating func command(_ opcode: UInt16, _ parameters: [UInt8] = [], at time: Int64 = 0) -> [UInt8]? {
        let code = [UInt8(opcode & 0xFF), UInt8(opcode >> 8)]
        controller.receive([0x01] + code + [UInt8(parameters.count)] + parameters, at: time)
        let answer = events().first { $0[0] == 0x0E && Array($0[3..<5]) == code }
        return answer.map { Array($0[5...]) }
    }

    /// Removes and returns the new events: code, length, parameters.
    mutating func events() -> [[UInt8]] {
        var events: [[UInt8]] = []
        var rest = controller.output[...]
        controller.removeOutput(rest.count)
        while rest.popFirst() == 0x04 {
            let count = 2 + Int(rest[rest.startIndex + 1])
            events.append(Array(rest.prefix(count)))
            rest = rest.dropFirst(count)
        }
        return events
    }

    /// Begins a passive scan with the commands of the controller's generation.
    mutating func scan(filter: UInt8 = 0, isActive: Bool = false) -> UInt8? {
        let type: UInt8 = isActive ? 1 : 0
        if controller.configuration.generation == .extended {
            command(0x2041, [0, 0, 1, type, 0x10, 0, 0x10, 0])
            return command(0x2042, [1, filter, 0, 0, 0, 0])?.first
        }
        command(0x200B, [type, 0x10, 0, 0x10, 0, 0, 0])
        return command(0x200C, [1, filter])?.first
    }

    /// Returns the signal strength of each new report, legacy or extended.
    mutating func heard() -> [Int8] {
        events().compactMap { event in
            guard event[0] == 0x3E else { return nil }
            switch event[2] {
            case 0x02: return event.last.map { Int8(bitPattern: $0) }
            case 0x0D: return Int8(bitPattern: event[17])
            default: return nil
            }
        }
    }
}
