import BeaconModel
import BeaconRadio

/// All that happens between us and one controller, without the socket: events in, commands and notices out, time an
/// argument.
///
/// It asks the controller what it can do and brings scan and adverts to what is wanted. One command is under way at a time.
/// A command that fails is tried again after a while; one that is not answered, and one that fails twice, has the adapter
/// switched off and on.
struct ControllerSession {
    private enum Phase {
        /// The adapter is gone, or off, or not ours to use.
        case idle
        /// It is being switched.
        case switching
        /// It is asked what it can do.
        case asking
        /// It does what is wanted.
        case working
        /// It has no LE.
        case useless
    }

    /// The adapter as people know it.
    var name: String

    private let configuration: SessionConfiguration
    private var phase = Phase.idle
    private var interview = ControllerInterview()
    private var flow: CommandFlow
    private var inherited: [HCICommand] = [] { didSet { isUndoKnown = false } }
    private var scan = ScanControl() { didSet { isUndoKnown = false } }
    private var advertising: AdvertisingControl { didSet { isUndoKnown = false } }
    private var watchdog: Watchdog
    private var backoff: Backoff
    private var advertisingBackoff: Backoff
    private var steps: [SessionStep] = []
    private var protected: [HCICommand] = []
    private var isUndoKnown = false

    private var scanRetry = Timestamp.zero
    private var advertisingRetry = Timestamp.zero
    private var powerRetry: (change: PowerChange, time: Timestamp)?
    private var turnEnd = Timestamp.latest
    private var hasFailed = false
    private var isBlockTold = false
    private var isAnnounced = true
    private var lastInterference = Timestamp.zero

    /// What the controller can do, as far as it has been asked.
    var features: ControllerFeatures { interview.features }

    /// Whether the adapter can be used, and why not.
    private(set) var state = RadioState.unknown

    init(
        name: String, configuration: SessionConfiguration = SessionConfiguration(),
        makeAddress: @escaping () -> DeviceAddress = AdvertisingControl.randomAddress
    ) {
        self.name = name
        self.configuration = configuration
        flow = CommandFlow(configuration)
        advertising = AdvertisingControl(makeAddress: makeAddress)
        watchdog = Watchdog(silence: configuration.silence)
        backoff = Backoff(first: configuration.firstDelay, longest: configuration.longestDelay)
        advertisingBackoff = Backoff(first: configuration.firstDelay, longest: configuration.longestDelay)
    }

    /// What is to be done now. Each step is given once.
    mutating func takeSteps() -> [SessionStep] {
        defer { steps = [] }
        return steps
    }

    /// What takes back all that is ours.
    var undo: [HCICommand] { inherited + advertising.undo + (scan.undo.map { [$0] } ?? []) }

    /// Whether the controller does what it is told.
    var isWorking: Bool { phase == .working }

    /// Whether our scan is on, so that silence would mean something.
    var isScanning: Bool { phase == .working && scan.wanted != nil && scan.isOn == true }

    /// When ``advance(to:)`` has something to do at the latest.
    var deadline: Timestamp {
        var deadline = flow.deadline
        if let powerRetry { deadline = min(deadline, powerRetry.time) }
        guard phase == .working else { return deadline }
        if !flow.isBusy {
            if scan.next != nil { deadline = min(deadline, max(scanRetry, flow.courtesyEnd)) }
            if advertising.next != nil { deadline = min(deadline, max(advertisingRetry, flow.courtesyEnd)) }
        }
        if isScanning { deadline = min(deadline, watchdog.deadline) }
        if advertising.takesTurns { deadline = min(deadline, turnEnd) }
        return deadline
    }
}

// MARK: - What is wanted

extension ControllerSession {
    /// Listens like this from now on; nil for not at all.
    mutating func scan(_ parameters: ScanParameters?, at now: Timestamp) {
        if scan.wanted == nil { watchdog.begin(at: now) }
        scan.wanted = parameters
        scanRetry = .zero
        proceed(at: now)
    }

    /// Sends these adverts from now on and no others.
    mutating func advertise(_ adverts: [[UInt8]], at now: Timestamp) {
        if adverts == advertising.wanted, advertising.isSettled, isAnnounced, !adverts.isEmpty {
            return steps.append(.tell(.advertising(.success(()))))
        }
        advertising.want(adverts)
        advertisingRetry = .zero
        isAnnounced = adverts.isEmpty
        proceed(at: now)
    }

    private var hasAdvertisingFailed: Bool { advertisingRetry > .zero }

    /// Takes back what a process left that is gone.
    mutating func inherit(_ commands: [HCICommand]) { inherited += commands }

    /// Leaves these advertising sets to those who use them.
    mutating func leave(_ sets: Set<UInt8>) { advertising.takenSets = sets }
}

// MARK: - The adapter

extension ControllerSession {
    /// The adapter is there and on, or is off and to be switched on.
    mutating func begin(isOn: Bool, at now: Timestamp) {
        guard phase != .switching else { return }
        isOn ? ask(at: now) : power(.on)
    }

    /// The adapter was switched on by somebody.
    mutating func cameOn(at now: Timestamp) {
        guard phase == .idle || phase == .useless else { return }
        ask(at: now)
    }

    /// The adapter was switched off by somebody: by a switch that blocks its radio, or by other software.
    mutating func wentOff(isBlocked: Bool, at now: Timestamp) {
        guard phase != .switching, phase != .idle else { return }
        stop(.poweredOff)
        if isBlocked {
            tellBlocked(at: now)
        } else {
            tell(.adapterLost, "it was switched off by other software. Switch it on: bluetoothctl power on")
        }
    }

    /// The adapter is gone.
    mutating func went() {
        guard phase != .idle || state != .poweredOff else { return }
        stop(.poweredOff)
        tell(.adapterLost, "the adapter is gone. It is used again once it is back.")
    }

    /// The adapter was switched as asked, or was not for this reason.
    mutating func powered(_ failure: HCISystemError?, change: PowerChange, at now: Timestamp) {
        guard phase == .switching else { return }
        phase = .idle
        guard let failure else {
            if change == .cycle { tell(.adapterReset, "the adapter was switched off and on again.") }
            return ask(at: now)
        }
        if failure.isBlock {
            state = .poweredOff
            tellBlocked(at: now)
        } else if failure.isRefusal {
            state = .unauthorized
            tell(.adapterLost, "it is off, and this process may not switch it on. \(HCIPermission.remedy)")
        } else if failure.isAbsence {
            went()
        } else {
            state = .resetting
            let delay = backoff.next()
            tell(
                .commandFailed,
                "the adapter could not be switched on: \(failure). The next attempt is in \(Self.seconds(delay)).")
            powerRetry = (.cycle, now.advanced(by: delay))
        }
    }

    private mutating func tellBlocked(at now: Timestamp) {
        if !isBlockTold {
            isBlockTold = true
            tell(.adapterLost, "a switch keeps its radio off. Undo that: rfkill unblock bluetooth")
        }
        powerRetry = (.on, now.advanced(by: configuration.blockInterval))
    }

    private mutating func power(_ change: PowerChange) {
        stop(change == .cycle ? .resetting : state)
        phase = .switching
        steps.append(.power(change))
    }

    private mutating func stop(_ state: RadioState) {
        phase = .idle
        self.state = state
        flow.forget()
        powerRetry = nil
        scan.forget()
        advertising.forget()
    }

    private mutating func ask(at now: Timestamp) {
        stop(state)
        phase = .asking
        isBlockTold = false
        scan.doubt()
        interview = ControllerInterview()
        proceed(at: now)
    }

    private mutating func interviewed(at now: Timestamp) {
        guard features.hasLE else {
            phase = .useless
            state = .unsupported
            tell(.adapterLost, "the adapter has no Bluetooth LE. Use another one.")
            return
        }
        phase = .working
        state = .poweredOn
        hasFailed = false
        scan.isExtended = features.scansExtended
        advertising.isExtended = features.advertisesExtended
        advertising.setCount = features.advertisingSets
        advertising.forget()
        watchdog.begin(at: now)
        tell(
            .adapterUsed,
            features.scansExtended
                ? "used by raw HCI, with Bluetooth 5's extended scan."
                : "used by raw HCI, with the scan of Bluetooth 4.")
    }
}

// MARK: - What comes

extension ControllerSession {
    /// Adverts were heard.
    mutating func heard(at now: Timestamp) {
        watchdog.heard(at: now)
        backoff.reset()
    }

    /// The controller has sent so many events since it was attached.
    mutating func counted(_ count: UInt32, at now: Timestamp) { watchdog.counted(count, at: now) }

    /// The machine was asleep, and the controller perhaps too: times that were to be kept meanwhile begin anew, and so does
    /// the scan.
    mutating func wokeUp(at now: Timestamp) {
        watchdog.begin(at: now)
        flow.waitAnew(at: now)
        guard phase == .working, scan.wanted != nil else { return }
        scan.restart()
        tell(.scanRestarted, "the machine slept; the scan is begun anew.")
        proceed(at: now)
    }

    /// Other software sent a command by this adapter.
    mutating func receive(othersCommand command: HCICommand, at now: Timestamp) {
        // What the kernel sends while an adapter comes on concerns nothing of ours.
        guard phase == .working else { return }
        flow.observe(command, at: now)
    }

    /// An event that holds no adverts: code, length, parameters.
    mutating func receive(event: RawSpan, at now: Timestamp) {
        watchdog.answered()
        guard event.byteCount >= 2 else { return }
        switch event[0] {
        case HCIEventCode.commandComplete where event.byteCount >= 5:
            // How many more may be sent, opcode, what it returns.
            let opcode = HCIOpcode(rawValue: UInt16(event[3]) | UInt16(event[4]) << 8)
            let status = event.byteCount > 5 ? HCIStatus(rawValue: event[5]) : .success
            completed(opcode, status, returned: event.extracting(min(6, event.byteCount)..<event.byteCount), at: now)
        case HCIEventCode.commandStatus where event.byteCount >= 6:
            // Status, how many more may be sent, opcode.
            let opcode = HCIOpcode(rawValue: UInt16(event[4]) | UInt16(event[5]) << 8)
            completed(opcode, HCIStatus(rawValue: event[2]), returned: event.extracting(0..<0), at: now)
        case HCIEventCode.hardwareError where phase == .working || phase == .asking:
            tell(.commandFailed, "the controller reports a hardware error.")
            retryPower(.cycle, at: now)
        default: break
        }
    }

    private mutating func completed(_ opcode: HCIOpcode, _ status: HCIStatus, returned: RawSpan, at now: Timestamp) {
        switch flow.answered(opcode, at: now) {
        case .ours(let command)?: finished(command, status, returned: returned, at: now)
        case .others(let command)? where status == .success: observe(command, at: now)
        default: break
        }
        proceed(at: now)
    }

    private mutating func observe(_ command: HCICommand, at now: Timestamp) {
        guard phase == .working else { return }
        let changedScan = scan.observe(command)
        let changedAdvertising = advertising.observe(command)
        guard changedScan || changedAdvertising else { return }
        // Whoever fights for the adapter is told of once a minute.
        guard now.since(lastInterference) >= 60 * Timestamp.nanosecondsPerSecond else { return }
        lastInterference = now
        if changedScan { tell(.scanRestarted, "other software changed the scan; it is begun anew.") }
        if changedAdvertising { tell(.degraded, "other software ended the advertising; it is begun anew.") }
    }

    private mutating func finished(_ command: HCICommand, _ status: HCIStatus, returned: RawSpan, at now: Timestamp) {
        if command == inherited.first {
            inherited.removeFirst()
        } else if command == interview.next {
            interview.answered(status, returned: returned)
            if interview.next == nil { interviewed(at: now) }
        } else if command.opcode.isScanning {
            if status == .success {
                scan.succeeded(command)
                if scan.isSettled { hasFailed = false }
            } else if scan.refused(command, status) {
                scanFailed(command, status, at: now)
            }
        } else if status == .success {
            advertising.done(command)
            if advertising.isSettled { advertisingBegan(at: now) }
        } else if advertising.refused(command, status) {
            advertisingFailed(command, status, at: now)
        }
    }

    private mutating func scanFailed(_ command: HCICommand, _ status: HCIStatus, at now: Timestamp) {
        tell(.commandFailed, "the controller refused \(command.opcode): \(status).")
        // A controller that was told by commands of one kind refuses the other kind until it is reset.
        if features.scansExtended, status == .disallowed || status == .unknownCommand { scan.isExtended.toggle() }
        guard !hasFailed else { return retryPower(.cycle, at: now) }
        hasFailed = true
        scanRetry = now.advanced(by: configuration.firstDelay)
    }

    private mutating func advertisingBegan(at now: Timestamp) {
        advertisingBackoff.reset()
        advertisingRetry = .zero
        turnEnd = now.advanced(by: configuration.turn)
        guard !isAnnounced else { return }
        isAnnounced = true
        if advertising.takesTurns {
            tell(
                .degraded,
                "the adapter sends \(advertising.slotCount) beacons at a time, so \(advertising.wanted.count) take turns of "
                    + "\(Self.seconds(configuration.turn)).")
        }
        steps.append(.tell(.advertising(.success(()))))
    }

    private mutating func advertisingFailed(_ command: HCICommand, _ status: HCIStatus, at now: Timestamp) {
        let why =
            status == .disallowed
            ? "other software advertises by it. Use another adapter, or end that: bluetoothctl advertise off"
            : "\(status)."
        let error = RadioError(.failed, "\(name) refused \(command.opcode): \(why)")
        if !hasAdvertisingFailed { steps.append(.tell(.advertising(.failure(error)))) }
        isAnnounced = false
        advertisingRetry = now.advanced(by: advertisingBackoff.next())
    }

    private mutating func retryPower(_ change: PowerChange, at now: Timestamp) {
        stop(.resetting)
        powerRetry = (change, now.advanced(by: backoff.next()))
    }
}

// MARK: - Time

extension ControllerSession {
    /// Does what is due. What has come has to be received before, so that an answer which was only read late is no time-out.
    mutating func advance(to now: Timestamp) {
        if let command = flow.overdue(at: now) {
            tell(
                .commandFailed,
                "the controller did not answer \(command.opcode) within \(Self.seconds(configuration.answerTime))."
            )
            retryPower(.cycle, at: now)
        }
        if let powerRetry, now >= powerRetry.time {
            self.powerRetry = nil
            phase = .switching
            steps.append(.power(powerRetry.change))
        }
        if isScanning, watchdog.isSilent(at: now) {
            scan.restart()
            if !watchdog.isTold {
                tell(
                    .scanRestarted,
                    "nothing was heard for \(Self.seconds(configuration.silence)); the scan is begun anew, in case it died."
                )
                watchdog.tell()
            }
        }
        if phase == .working, advertising.takesTurns, now >= turnEnd {
            turnEnd = now.advanced(by: configuration.turn)
            if advertising.isSettled { advertising.takeTurns() }
        }
        proceed(at: now)
    }

    /// Sends the next command, if none is under way and there is one to send.
    private mutating func proceed(at now: Timestamp) {
        guard !flow.isBusy, let command = next(at: now) else { return protect() }
        protect()
        flow.begin(command, at: now)
        steps.append(.send(command))
    }

    private func next(at now: Timestamp) -> HCICommand? {
        switch phase {
        case .idle, .switching, .useless: return nil
        case .asking: return interview.next
        case .working: break
        }
        if let command = inherited.first { return command }
        guard now >= flow.courtesyEnd else { return nil }
        if now >= advertisingRetry, let command = advertising.next {
            // A controller that scans keeps its random address (Core Specification 5.3, Vol 4, Part E, 7.8.4).
            return command.opcode == .setRandomAddress && scan.isOurs ? scan.end : command
        }
        return now >= scanRetry ? scan.next : nil
    }

    /// Has everything that is ours kept in mind, before it is.
    private mutating func protect() {
        // Most often nothing has changed since the last batch of adverts.
        guard !isUndoKnown else { return }
        isUndoKnown = true
        let undo = undo
        guard undo != protected else { return }
        protected = undo
        steps.append(.protect(undo))
    }
}

// MARK: - Words

extension ControllerSession {
    private mutating func tell(_ kind: RadioNotice.Kind, _ message: String) {
        steps.append(.tell(.notice(RadioNotice(kind, adapter: name, message))))
    }

    private static func seconds(_ nanoseconds: Int64) -> String {
        let tenths = nanoseconds / 100_000_000
        return tenths % 10 == 0 ? "\(tenths / 10) s" : "\(tenths / 10).\(tenths % 10) s"
    }
}
