import BeaconModel

/// A Bluetooth LE controller that speaks HCI over a serial line (H4), as a state machine: bytes from the host and
/// adverts from the air go in, bytes for the host and adverts for the air come out. It reads no clock and does no I/O.
///
/// It scans and advertises as the Core Specification has it, as far as Linux asks for it, and makes no connections.
/// Times are in nanoseconds of any clock that does not run backward.
public struct Controller: Sendable {
    /// How it was made.
    public let configuration: ControllerConfiguration

    /// What it has done so far.
    public internal(set) var counters = ControllerCounters()

    /// What is wrong with it.
    public var fault = ControllerFault()

    /// What it has to tell its host and has not yet told.
    public internal(set) var output: [UInt8] = []

    /// All that a reset clears.
    struct State: Sendable {
        /// The events that the host wants; these are the defaults (Core Specification 5.3, Vol 4, Part E, 7.3.1 and
        /// 7.8.1).
        var eventMask: UInt64 = 0x0000_1FFF_FFFF_FFFF
        var leEventMask: UInt64 = 0x1F

        var randomAddress: DeviceAddress?
        var scanner = Scanner()
        var scansFromRandomAddress = false
        var acceptList: Set<DeviceAddress> = []
        var sets: [AdvertisingSet.Handle: AdvertisingSet] = [:]

        /// The kind of commands that the host has used for advertising and scanning.
        var commands: AdvertisingCommands?
    }

    var state = State()
    var chance: Chance
    private var deframer = H4Deframer()

    /// A controller that was just switched on.
    public init(_ configuration: ControllerConfiguration) {
        self.configuration = configuration
        chance = Chance(seed: configuration.seed)
    }

    /// Takes bytes from the host and does what they ask for.
    public mutating func receive(_ bytes: some Sequence<UInt8>, at time: Int64) {
        deframer.append(bytes)
        while let (indicator, packet) = deframer.next() {
            // There are no connections, so that data goes nowhere.
            if indicator == .command { obey(packet, at: time) }
        }
    }

    /// Ends its scan without telling the host, as firmware does.
    public mutating func endScan() { state.scanner.isEnabled = false }

    /// Switches it off and on again: it forgets what the host has set, what it had to say, and what was wrong with it.
    public mutating func powerCycle() {
        state = State()
        fault = ControllerFault()
        output.removeAll()
        deframer = H4Deframer()
    }

    /// Takes away the first bytes of the output, once the host has them.
    public mutating func removeOutput(_ count: Int) { output.removeFirst(count) }

    /// When it has to be told the time next, or nil where it waits for nothing.
    public var deadline: Int64? {
        let moments = state.sets.values.flatMap { [$0.next, $0.isEnabled ? $0.end : nil] } + [state.scanner.end]
        return moments.compactMap(\.self).min()
    }

    /// Goes on to a moment.
    ///
    /// - Returns: what it sends.
    public mutating func advance(to time: Int64) -> [AirPacket] {
        endScan(at: time)
        return transmit(at: time)
    }

    private mutating func obey(_ packet: [UInt8], at time: Int64) {
        counters.commands += 1
        guard !fault.isDead else { return }
        let opcode = Opcode(rawValue: UInt16(packet[0]) | UInt16(packet[1]) << 8)
        do throws(Status) {
            guard SupportedCommands.contains(opcode, in: configuration.generation) else { throw .unknownCommand }
            if let kind = SupportedCommands.kind(of: opcode) {
                guard state.commands == nil || state.commands == kind else { throw .commandDisallowed }
                state.commands = kind
            }
            var parameters = ParameterReader(packet[3...])
            complete(opcode, [Status.success.rawValue] + (try perform(opcode, &parameters, at: time)))
        } catch {
            // What begins something longer is answered by a status, which has no parameters (7.7.15).
            switch opcode {
            case .createConnection, .extendedCreateConnection, .disconnect, .readRemoteVersion:
                event(0x0F, [error.rawValue, 1] + opcode.bytes)
            default: complete(opcode, [error.rawValue])
            }
        }
    }

    /// Does what a command asks for.
    ///
    /// - Returns: the parameters of the answer behind the status.
    private mutating func perform(
        _ opcode: Opcode, _ parameters: inout ParameterReader, at time: Int64
    ) throws(Status) -> [UInt8] {
        if let answer = try inform(opcode, &parameters) { return answer }
        if let answer = try advertise(opcode, &parameters, at: time) { return answer }
        if let answer = try advertiseExtended(opcode, &parameters, at: time) { return answer }
        if let answer = try scan(opcode, &parameters, at: time) { return answer }
        // All that is left would make or need a connection.
        throw .connectionLimitExceeded
    }

    /// Answers a command (7.7.14); the host may send one more at a time.
    private mutating func complete(_ opcode: Opcode, _ parameters: [UInt8]) {
        event(0x0E, [1] + opcode.bytes + parameters)
    }

    /// Tells an LE event if the host wants it.
    mutating func leEvent(_ subevent: UInt8, _ parameters: [UInt8]) {
        guard hears(subevent) else { return }
        event(HCIAdvertisingReportCursor.leMetaEvent, [subevent] + parameters)
    }

    /// Whether the host wants an LE event: bit 61 of the one mask and the event's own of the other.
    func hears(_ subevent: UInt8) -> Bool {
        state.eventMask >> 61 & 1 == 1 && state.leEventMask >> UInt64(subevent - 1) & 1 == 1
    }

    private mutating func event(_ code: UInt8, _ parameters: [UInt8]) {
        output += [H4Deframer.Indicator.event.rawValue, code, UInt8(parameters.count)]
        output += parameters
    }
}
