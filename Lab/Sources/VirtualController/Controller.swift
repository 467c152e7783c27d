import BeaconModel

/// A Bluetooth LE controller that speaks HCI over a serial line (H4), as a state machine: bytes from the host and
/// adverts from the air go in, bytes for the host and adverts for the air come out. It reads no clock and does no I/O.
///
/// It scans and advertises as the Core Specification requires, as far as Linux uses it, and makes no connections. Times
/// are nanoseconds of any clock that does not run backward.
public struct Controller: Sendable {
    /// The fixed properties of the controller.
    public let configuration: ControllerConfiguration

    /// The counts since the controller was created.
    public internal(set) var counters = ControllerCounters()

    /// The current faults.
    public var fault = ControllerFault()

    /// The bytes that wait for the host.
    public internal(set) var output: [UInt8] = []

    /// The state that a reset clears.
    struct State: Sendable {
        /// The events that the host wants, with their defaults (Core Specification 5.3, Vol 4, Part E, 7.3.1 and
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

    /// Creates a controller that was just switched on.
    public init(_ configuration: ControllerConfiguration) {
        self.configuration = configuration
        chance = Chance(seed: configuration.seed)
    }

    /// Receives bytes from the host and carries out its commands.
    public mutating func receive(_ bytes: some Sequence<UInt8>, at time: Int64) {
        deframer.append(bytes)
        while let (indicator, packet) = deframer.next() {
            // There are no connections, so data is ignored.
            if indicator == .command { obey(packet, at: time) }
        }
    }

    /// Ends the scan without an event for the host, as faulty firmware does.
    public mutating func endScan() { state.scanner.isEnabled = false }

    /// Switches the controller off and on: clears the host's settings, the output and all faults.
    public mutating func powerCycle() {
        state = State()
        fault = ControllerFault()
        output.removeAll()
        deframer = H4Deframer()
    }

    /// Removes the first bytes of the output, once the host has them.
    public mutating func removeOutput(_ count: Int) { output.removeFirst(count) }

    /// The time of the next call of ``advance(to:)``, or nil if nothing is pending.
    public var deadline: Int64? {
        let times = state.sets.values.flatMap { [$0.next, $0.isEnabled ? $0.end : nil] } + [state.scanner.end]
        return times.compactMap(\.self).min()
    }

    /// Advances to a time.
    ///
    /// - Returns: the adverts that it sends.
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
            // Commands that begin a longer operation are answered with a status event, which has no parameters
            // (7.7.15).
            switch opcode {
            case .createConnection, .extendedCreateConnection, .disconnect, .readRemoteVersion:
                event(0x0F, [error.rawValue, 1] + opcode.bytes)
            default: complete(opcode, [error.rawValue])
            }
        }
    }

    /// Carries out a command.
    ///
    /// - Returns: the parameters of the answer after the status.
    private mutating func perform(
        _ opcode: Opcode, _ parameters: inout ParameterReader, at time: Int64
    ) throws(Status) -> [UInt8] {
        if let answer = try inform(opcode, &parameters) { return answer }
        if let answer = try advertise(opcode, &parameters, at: time) { return answer }
        if let answer = try advertiseExtended(opcode, &parameters, at: time) { return answer }
        if let answer = try scan(opcode, &parameters, at: time) { return answer }
        // All other commands would make or need a connection.
        throw .connectionLimitExceeded
    }

    /// Answers a command (7.7.14) and allows the host one more.
    private mutating func complete(_ opcode: Opcode, _ parameters: [UInt8]) {
        event(0x0E, [1] + opcode.bytes + parameters)
    }

    /// Sends an LE event if the host wants it.
    mutating func leEvent(_ subevent: UInt8, _ parameters: [UInt8]) {
        guard isWanted(subevent) else { return }
        event(HCIAdvertisingReportCursor.leMetaEvent, [subevent] + parameters)
    }

    /// Returns true if the host wants an LE event: bit 61 of one mask and the event's bit of the other.
    func isWanted(_ subevent: UInt8) -> Bool {
        state.eventMask >> 61 & 1 == 1 && state.leEventMask >> UInt64(subevent - 1) & 1 == 1
    }

    private mutating func event(_ code: UInt8, _ parameters: [UInt8]) {
        output += [H4Deframer.Indicator.event.rawValue, code, UInt8(parameters.count)]
        output += parameters
    }
}
