import BeaconModel
import BeaconRadio
import BeaconSupport

/// The dialogue with one controller, without I/O: events in, commands and notices out. The time is an argument.
///
/// It discovers the controller's features and brings scan and adverts to the requested state. It sends one command at a
/// time and repeats a failed command after a while. If a command has no answer or fails twice, the adapter is switched
/// off and on.
struct ControllerSession {
    enum Phase {
        /// The adapter is removed, off, or not permitted to us.
        case idle
        /// The adapter is being switched.
        case switching
        /// The adapter's features are being read.
        case asking
        /// The adapter carries out requests.
        case working
        /// The adapter has no LE.
        case useless
    }

    /// The adapter's name, such as `hci0`.
    var name: String

    let configuration: ControllerConfiguration
    private var phase = Phase.idle
    var discovery = FeatureDiscovery()
    private var flow: CommandFlow
    private var inherited: [HCICommand] = [] { didSet { isUndoKnown = false } }
    var scan = ScanControl(address: AdvertisingControl.randomAddress()) { didSet { isUndoKnown = false } }
    var advertising: AdvertisingControl { didSet { isUndoKnown = false } }
    var watchdog: Watchdog
    var backoff: Backoff
    private var advertisingBackoff: Backoff
    var outcomes = AdvertisingOutcomes()
    var steps: [SessionStep] = []
    var protected: [HCICommand] = []
    private var isUndoKnown = false

    private var scanRetry = Timestamp.zero
    private var powerRetry: (change: PowerChange, time: Timestamp)?
    private var turnEnd = Timestamp.latest
    /// The time after which adverts change their address, in nanoseconds; nil to keep it.
    private var rotation: Int64?
    private var rotationEnd = Timestamp.latest
    private var advertisingRetry = Timestamp.latest
    private var isTurnTakingReported = false
    private var hasFailed = false
    private var isBlockReported = false
    /// True from total silence in a busy air until the adapter receives something.
    private var isDeaf = false
    /// The number of times that the deaf adapter was switched off and on.
    private var resets = 0
    /// True if this process may not switch the adapter.
    private var mayNotSwitch = false
    private var lastInterference = Timestamp.zero
    private var nextRevivalNotice = Timestamp.zero

    /// The controller's features, as far as they are known.
    var features: ControllerFeatures { discovery.features }

    /// The state of the adapter.
    var state = RadioState.unknown

    init(
        name: String, configuration: ControllerConfiguration = ControllerConfiguration(),
        makeAddress: @escaping () -> DeviceAddress = AdvertisingControl.randomAddress
    ) {
        self.name = name
        self.configuration = configuration
        flow = CommandFlow(configuration)
        advertising = AdvertisingControl(makeAddress: makeAddress)
        watchdog = Watchdog(silence: configuration.silence)
        backoff = configuration.backoff
        advertisingBackoff = configuration.backoff
    }

    /// Returns the steps to perform now, each once.
    mutating func drainSteps() -> [SessionStep] {
        defer { steps = [] }
        return steps
    }

    /// The commands that end everything of ours.
    var undo: [HCICommand] { inherited + advertising.undo + (scan.undo.map { [$0] } ?? []) }

    /// True if the controller carries out our commands.
    var isWorking: Bool { phase == .working }

    /// True if our scan is on, so that silence has a meaning.
    var isScanning: Bool { phase == .working && scan.wanted != nil && scan.isOn == true }

    /// True if the controller's events are being counted. Each scan begins a new count.
    var isCounting: Bool { watchdog.isCounting }

    /// The latest time for the next call of ``advance(to:)``.
    var deadline: Timestamp {
        var deadline = flow.deadline
        if let powerRetry { deadline = min(deadline, powerRetry.time) }
        guard phase == .working else { return deadline }
        if !flow.isBusy {
            if scan.next != nil { deadline = min(deadline, max(scanRetry, flow.courtesyEnd)) }
            if advertising.next != nil { deadline = min(deadline, flow.courtesyEnd) }
        }
        if isScanning {
            deadline = min(
                deadline,
                isDeaf
                    ? watchdog.lastSign.advanced(by: configuration.deafness).nextWholeSecond : watchdog.deadline)
        }
        if advertising.isHeldUp { deadline = min(deadline, advertisingRetry) }
        if advertising.takesTurns { deadline = min(deadline, turnEnd) }
        if advertising.slotCount > 0 { deadline = min(deadline, rotationEnd) }
        return deadline
    }
}

// MARK: - Requests

extension ControllerSession {
    /// Sets the scan parameters; nil ends the scan.
    mutating func scan(_ parameters: ScanParameters?, at now: Timestamp) {
        watchdog.share = parameters?.share ?? 1
        if scan.wanted == nil { watchdog.begin(at: now) } else { watchdog.forgetActivity() }
        // Without a scan, silence has no meaning.
        if parameters == nil { endDeafness() }
        scan.wanted = parameters
        scanRetry = .zero
        proceed(at: now)
    }

    /// Ends the adverts and scan of a dead process.
    mutating func inherit(_ commands: [HCICommand]) { inherited += commands }

    /// Leaves these advertising sets to the processes that use them.
    mutating func leave(_ sets: Set<UInt8>) { advertising.setsOfOthers = sets }
}

// MARK: - Time

extension ControllerSession {
    /// Performs the operations that are due. The caller must first deliver received events, so that an answer that was
    /// only read late is no time-out.
    mutating func advance(to now: Timestamp) {
        if let command = flow.overdue(at: now) {
            report(
                .commandFailed,
                "the controller did not answer \(command.opcode) within \(Self.seconds(configuration.answerTime)); "
                    + "the adapter is switched off and on."
            )
            retryPower(.cycle, at: now)
        }
        if let powerRetry, now >= powerRetry.time {
            self.powerRetry = nil
            phase = .switching
            steps.append(.power(powerRetry.change))
        }
        if isScanning { judgeSilence(at: now) }
        advanceAdvertising(to: now)
        proceed(at: now)
    }

    /// Responds to a silence. Total silence in a busy air is deafness: the adapter is switched off and on until it
    /// receives something. After any other silence the scan restarts, early and without a notice, and again if the
    /// silence lasts. Then the adapter is switched, at growing intervals.
    private mutating func judgeSilence(at now: Timestamp) {
        if isDeaf {
            guard now.since(watchdog.lastSign) >= configuration.deafness else { return }
            guard resets < configuration.maximumResets else {
                endDeafness()
                watchdog.begin(at: now)
                return report(
                    .adapterUsed,
                    "nothing was heard after \(resets) resets of the adapter; the silence counts as real.")
            }
            return reset("the adapter still hears nothing", at: now)
        }
        if watchdog.isDeaf(at: now) {
            isDeaf = true
            steps.append(.deaf(from: watchdog.lastSign, to: now))
            return reset(
                "many devices were heard, and then nothing for \(Self.seconds(now.since(watchdog.lastSign))); no region "
                    + "is left until the adapter hears again", at: now)
        }
        // The scan of another process of ours is restarted by that process.
        if watchdog.isScanDoubtful(at: now), !scan.isPeers { restartSilentScan() }
        guard watchdog.isSilent(at: now) else { return }
        restartSilentScan()
        let silences = watchdog.silences
        guard silences > 1 else {
            return report(
                .scanRestarted,
                "no advert was heard for \(Self.seconds(configuration.silence)); the scan is restarted, in case it died. "
                    + "This is normal in a place without Bluetooth devices.")
        }
        // After 2, 4, 8 … silences: an empty place is no fault, and other software may use the adapter.
        guard silences.nonzeroBitCount == 1, silences <= configuration.maximumSilences, !mayNotSwitch else { return }
        reset(
            "no advert was heard for \(Self.seconds(configuration.silence * Int64(silences))), although the scan was "
                + "restarted", at: now)
    }

    /// Restarts a silent scan: the controller may have been reset without the kernel's knowledge.
    private mutating func restartSilentScan() {
        scan.restart(masks: HCICommand.setEventMasks(isExtended: features.scansExtended))
    }

    /// Switches the adapter off and on, or only restarts the scan if this process may not switch it.
    private mutating func reset(_ reason: String, at now: Timestamp) {
        if isDeaf { resets += 1 }
        guard mayNotSwitch else {
            report(.adapterReset, "\(reason). The adapter is switched off and on.")
            return retryPower(.cycle, at: now)
        }
        report(.scanRestarted, "\(reason). The scan is restarted. \(HCIPermission.remedy)")
        if isDeaf { state = .resetting }
        watchdog.begin(at: now)
        restartSilentScan()
    }

    /// Sends the next command, if none is pending and there is one to send.
    private mutating func proceed(at now: Timestamp) {
        guard !flow.isBusy, let command = next(at: now) else { return protect() }
        protect()
        flow.begin(command, at: now)
        steps.append(.send(command))
    }

    func next(at now: Timestamp) -> HCICommand? {
        switch phase {
        case .idle, .switching, .useless: return nil
        case .asking: return discovery.next
        case .working: break
        }
        if let command = inherited.first { return command }
        guard now >= flow.courtesyEnd else { return nil }
        if let command = advertising.next {
            // A controller that scans keeps its random address (Core Specification 5.3, Vol 4, Part E, 7.8.4).
            return command.opcode == .setRandomAddress && scan.isOurs ? scan.end : command
        }
        return now >= scanRetry ? scan.next : nil
    }

    /// Requests protection for everything that is about to be sent.
    mutating func protect() {
        // Usually nothing has changed since the last batch of adverts.
        guard !isUndoKnown else { return }
        isUndoKnown = true
        let undo = undo
        guard undo != protected else { return }
        protected = undo
        steps.append(.protect(undo))
    }
}

// MARK: - Notices

extension ControllerSession {
    mutating func report(_ kind: RadioNotice.Kind, _ message: String) {
        report(.notice(RadioNotice(kind, adapter: name, message)))
    }

    mutating func report(_ event: SourceEvent) { steps.append(.report(event)) }

    static func seconds(_ nanoseconds: Int64) -> String {
        let tenths = nanoseconds / 100_000_000
        return tenths % 10 == 0 ? "\(tenths / 10) s" : "\(tenths / 10).\(tenths % 10) s"
    }
}

/// A step that a controller session requests. Steps are performed in order.
enum SessionStep {
    /// Send this command.
    case send(HCICommand)
    /// Make sure that these commands are sent even if this process dies.
    case protect([HCICommand])
    /// Switch the adapter, and report the outcome to the session.
    case power(PowerChange)
    /// Report this event.
    case report(SourceEvent)
    /// Report that this adapter received nothing for a while, so that presence is unknown for that time.
    case deaf(from: Timestamp, to: Timestamp)
}

/// The times of a controller session.
struct ControllerConfiguration {
    /// The silence after which the scan is restarted, in nanoseconds. Home Assistant's Bluetooth integration, which has
    /// been used with most adapters, also waits 90 s (habluetooth, const.py: SCANNER_WATCHDOG_TIMEOUT).
    var silence: Int64 = 90_000_000_000

    /// The number of resets of a deaf adapter after which silence counts as real. With their waits they take some eight
    /// minutes.
    var maximumResets = 8

    /// The number of consecutive silences after which the adapter is left alone.
    var maximumSilences = 1 << 10

    /// The time within which a deaf adapter must receive something after it was switched off and on, in nanoseconds:
    /// enough for two readings of the controller's count.
    var deafness: Int64 = 25_000_000_000

    /// The time after a restart of the scan within which received adverts prove that the scan had died, in nanoseconds:
    /// some intervals of common beacons.
    var revival: Int64 = 3_000_000_000

    /// The time until another such restart is reported, in nanoseconds.
    var revivalPause = AirActivity.revivalPause

    /// The interval at which the controller's event count is read while a filter keeps adverts from us, in nanoseconds.
    var countInterval: Int64 = 10_000_000_000

    /// The time to wait for the answer to a command, in nanoseconds. The kernel itself gives up after 2 s and sends the
    /// next command (hci.h: HCI_CMD_TIMEOUT), so that commands can be sent again after 3 s.
    var answerTime: Int64 = 3_000_000_000

    /// The pause after other software's command, in nanoseconds. The kernel sends related commands within some tens of
    /// milliseconds. If one of ours came between them, the controller would refuse the next one.
    var courtesy: Int64 = 300_000_000

    /// The time for which each of several beacons is sent if they share an advertising slot, in nanoseconds: three
    /// adverts at 100 ms.
    var turn: Int64 = 300_000_000

    /// The wait after a refusal, or after a switch of the adapter that did not help, in nanoseconds. Each further wait
    /// is twice as long, up to ``longestDelay``.
    var firstDelay: Int64 = 1_000_000_000

    /// The longest wait between two attempts, in nanoseconds.
    private var longestDelay: Int64 = 300_000_000_000

    /// The pauses between attempts.
    var backoff: Backoff { Backoff(first: .nanoseconds(firstDelay), longest: .nanoseconds(longestDelay)) }

    /// The interval at which the state of a switch that blocks the radio is read, in nanoseconds.
    var blockInterval: Int64 = 10_000_000_000
}

extension ControllerSession {
    /// Begins the session of an adapter; switches the adapter on if it is off.
    mutating func begin(isOn: Bool, at now: Timestamp) {
        guard phase != .switching else { return }
        isOn ? ask(at: now) : power(.on)
    }

    /// Handles that other software switched the adapter on.
    mutating func cameOn(at now: Timestamp) {
        guard phase == .idle || phase == .useless else { return }
        ask(at: now)
    }

    /// Handles that the adapter was switched off, by a switch that blocks its radio or by other software.
    mutating func wentOff(isBlocked: Bool, at now: Timestamp) {
        guard phase != .switching, phase != .idle || powerRetry?.change == .cycle else { return }
        endDeafness()
        stop(.poweredOff)
        if isBlocked {
            reportBlock(at: now)
        } else {
            report(.adapterLost, "other software switched the adapter off. Switch it on: bluetoothctl power on")
        }
    }

    /// Handles the removal of the adapter.
    mutating func adapterRemoved() {
        endDeafness()
        mayNotSwitch = false
        guard phase != .idle || state != .poweredOff else { return }
        stop(.poweredOff)
        report(.adapterLost, "the adapter was removed. It is used again once it returns.")
    }

    /// Handles the outcome of a requested change of power.
    mutating func powered(_ failure: HCISystemError?, change: PowerChange, at now: Timestamp) {
        guard phase == .switching else { return }
        phase = .idle
        guard let failure else {
            if change == .cycle { report(.adapterReset, "the adapter was switched off and on again.") }
            return ask(at: now)
        }
        if failure.isBlock {
            state = .poweredOff
            reportBlock(at: now)
        } else if failure.isRefusal, change == .cycle {
            // The adapter is on and can still be used.
            mayNotSwitch = true
            report(.commandFailed, "this process may not switch the adapter off and on. \(HCIPermission.remedy)")
            ask(at: now)
        } else if failure.isRefusal {
            state = .unauthorized
            refuseAdvertising()
            report(.adapterLost, "the adapter is off, and this process may not switch it on. \(HCIPermission.remedy)")
        } else if failure.isAbsence {
            adapterRemoved()
        } else {
            state = .resetting
            let delay = backoff.next().clampedNanoseconds
            report(
                .commandFailed,
                "cannot switch the adapter on: \(failure). The next attempt is in \(Self.seconds(delay)).")
            powerRetry = (.cycle, now.advanced(by: delay))
        }
    }

    private mutating func reportBlock(at now: Timestamp) {
        if !isBlockReported {
            isBlockReported = true
            report(.adapterLost, "a switch blocks the adapter's radio. Unblock it: rfkill unblock bluetooth")
        }
        powerRetry = (.on, now.advanced(by: configuration.blockInterval))
    }

    mutating func power(_ change: PowerChange) {
        stop(change == .cycle ? .resetting : state)
        phase = .switching
        steps.append(.power(change))
    }

    mutating func stop(_ state: RadioState) {
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
        isBlockReported = false
        scan.doubt()
        discovery = FeatureDiscovery()
        proceed(at: now)
    }

    private mutating func discovered(at now: Timestamp) {
        guard features.hasLE else {
            phase = .useless
            state = .unsupported
            refuseAdvertising()
            report(.adapterLost, "the adapter has no Bluetooth LE. Use another one.")
            return
        }
        phase = .working
        // A deaf adapter counts as working only once it receives something.
        state = isDeaf ? .resetting : .poweredOn
        hasFailed = false
        scan.isExtended = features.scansExtended
        advertising.isExtended = features.advertisesExtended
        advertising.setCount = features.advertisingSets
        advertising.forget()
        watchdog.begin(at: now)
        report(
            .adapterUsed,
            features.scansExtended
                ? "the adapter is used with raw HCI and the extended scan of Bluetooth 5."
                : "the adapter is used with raw HCI and the scan of Bluetooth 4.")
    }

    /// Handles a wake-up of the machine. The controller may have slept too, so the watchdog, the wait for an answer and
    /// the scan restart. The receiver of the deafness adjusts the times of beacons and regions.
    mutating func wokeUp(at now: Timestamp) {
        watchdog.begin(at: now)
        flow.restartWait(at: now)
        guard phase == .working, scan.wanted != nil else { return }
        scan.restart()
        report(.scanRestarted, "the machine slept; the scan is restarted.")
        proceed(at: now)
    }

    private mutating func retryPower(_ change: PowerChange, at now: Timestamp) {
        stop(.resetting)
        powerRetry = (change, now.advanced(by: backoff.next().clampedNanoseconds))
    }
}

extension ControllerSession {
    /// Notes that adverts were received.
    mutating func heard(at now: Timestamp) {
        let silence = watchdog.revivedSilence(at: now, within: configuration.revival)
        watchdog.heard(at: now)
        noteHearing(at: now, revivedAfter: silence)
    }

    /// Notes an advert.
    @inline(__always)
    mutating func heardAdvert(at now: Timestamp) { watchdog.heardAdvert(at: now) }

    /// Notes the number of events that the controller has sent since it was attached.
    mutating func counted(_ count: UInt32, at now: Timestamp) {
        let lastSign = watchdog.lastSign
        let silence = watchdog.revivedSilence(at: now, within: configuration.countInterval + configuration.revival)
        watchdog.counted(count, at: now)
        guard watchdog.lastSign > lastSign else { return }
        noteHearing(at: now, revivedAfter: silence)
    }

    /// Ends the retries after a failure, and a deafness.
    ///
    /// - Parameter silence: the length of the silence if a restart revived a dead scan, in nanoseconds; nil otherwise.
    private mutating func noteHearing(at now: Timestamp, revivedAfter silence: Int64?) {
        if let silence, now >= nextRevivalNotice {
            nextRevivalNotice = now.advanced(by: configuration.revivalPause)
            report(.scanRestarted, RadioNotice.revival(after: silence))
        }
        backoff.reset()
        guard isDeaf else { return }
        endDeafness()
        report(.adapterUsed, "the adapter hears again.")
        // The adapter still scans while it waits to be switched, which is no longer necessary.
        if phase == .idle, powerRetry?.change == .cycle { ask(at: now) }
    }

    /// Ends a deafness: silence means absence again.
    private mutating func endDeafness() {
        guard isDeaf else { return }
        isDeaf = false
        resets = 0
        if phase == .working { state = .poweredOn }
    }

    /// Handles a command that other software sent to this adapter.
    mutating func receive(othersCommand command: HCICommand, at now: Timestamp) {
        // The kernel's commands while it switches an adapter on do not concern us.
        guard phase == .working else { return }
        flow.observe(command, at: now)
    }

    /// Handles an event without adverts: code, length, parameters.
    mutating func receive(event: RawSpan, at now: Timestamp) {
        watchdog.answered()
        guard event.byteCount >= 2 else { return }
        switch event[0] {
        case HCIEventCode.commandComplete where event.byteCount >= 5:
            // Number of commands that may be sent, opcode, return parameters.
            let opcode = HCIOpcode(rawValue: UInt16(event[3]) | UInt16(event[4]) << 8)
            let status = event.byteCount > 5 ? HCIStatus(rawValue: event[5]) : .success
            completed(opcode, status, returned: event.extracting(min(6, event.byteCount)..<event.byteCount), at: now)
        case HCIEventCode.commandStatus where event.byteCount >= 6:
            // Status, number of commands that may be sent, opcode.
            let opcode = HCIOpcode(rawValue: UInt16(event[4]) | UInt16(event[5]) << 8)
            completed(opcode, HCIStatus(rawValue: event[2]), returned: event.extracting(0..<0), at: now)
        case HCIEventCode.hardwareError where phase == .working || phase == .asking:
            report(.commandFailed, "the controller reports a hardware error; the adapter is switched off and on.")
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
        // Interference by other software is reported once a minute at most.
        guard now.since(lastInterference) >= 60 * Timestamp.nanosecondsPerSecond else { return }
        lastInterference = now
        if changedScan { report(.scanRestarted, "other software changed the scan; it is restarted.") }
        if changedAdvertising { report(.degraded, "other software ended the advertising; it is restarted.") }
    }

    mutating func finished(_ command: HCICommand, _ status: HCIStatus, returned: RawSpan, at now: Timestamp) {
        if command == inherited.first {
            inherited.removeFirst()
        } else if command == discovery.next {
            discovery.answered(status, returned: returned)
            if discovery.next == nil { discovered(at: now) }
        } else if command.opcode.isScanning || command.opcode.isEventMask || scan.isOwnAddress(command) {
            if status == .success {
                scan.succeeded(command)
                if command.opcode.isScanning, command.isEnabling { watchdog.began(at: now) }
                if scan.isSettled { hasFailed = false }
            } else if scan.refused(command, status) {
                scanFailed(command, status, at: now)
            }
        } else if status == .success {
            if command.opcode == .setRandomAddress { scan.noteRandomAddress() }
            advertisingSucceeded(command, at: now)
        } else if advertising.refused(command, status) {
            advertisingFailed(command, status, at: now)
        }
    }

    private mutating func scanFailed(_ command: HCICommand, _ status: HCIStatus, at now: Timestamp) {
        report(.commandFailed, "the controller refused \(command.opcode): \(status). It is tried again.")
        // A controller that was set up by commands of one kind refuses the other kind until it is reset.
        if features.scansExtended, status == .disallowed || status == .unknownCommand { scan.isExtended.toggle() }
        guard !hasFailed else { return retryPower(.cycle, at: now) }
        hasFailed = true
        scanRetry = now.advanced(by: configuration.firstDelay)
    }
}

/// The outcomes of the adverts to send, each reported once.
struct AdvertisingOutcomes {
    /// The adverts that wait for an outcome.
    private var waiting: [OutgoingAdvert] = []

    /// The adverts whose last reported outcome was a failure.
    private var failed: Set<OutgoingAdvert> = []

    /// Starts over with the adverts of a request.
    mutating func begin(_ adverts: [OutgoingAdvert]) {
        waiting = adverts
        failed = []
    }

    /// Returns the adverts whose success must be reported.
    mutating func succeeded(_ adverts: [OutgoingAdvert]) -> [OutgoingAdvert] {
        guard !waiting.isEmpty else { return [] }
        let new = waiting.filter(adverts.contains)
        waiting.removeAll(where: new.contains)
        failed.subtract(new)
        return new
    }

    /// Returns the adverts whose failure must be reported. A later success is then reported again.
    mutating func failed(_ adverts: [OutgoingAdvert]) -> [OutgoingAdvert] {
        let new = adverts.filter { failed.insert($0).inserted }
        waiting += new.filter { !waiting.contains($0) }
        return new
    }
}

extension ControllerSession {
    /// Sets the adverts to send. An event reports each advert's outcome.
    mutating func advertise(_ adverts: [OutgoingAdvert], at now: Timestamp) {
        advertising.want(adverts)
        advertising.retry()
        outcomes.begin(advertising.wanted)
        isTurnTakingReported = false
        refuseAdvertising()
        reportAdvertising()
        proceed(at: now)
    }

    /// Changes the adverts' addresses at this interval in nanoseconds; nil to keep them.
    mutating func rotateAddresses(every rotation: Int64?, at now: Timestamp) {
        self.rotation = rotation
        rotationEnd = rotation.map { now.advanced(by: $0) } ?? .latest
    }

    /// Reports to all waiting adverts that this adapter cannot send. An adapter that is off may be switched on, so that
    /// is no reason to refuse.
    private mutating func refuseAdvertising() {
        let error: RadioError
        switch state {
        case .unsupported:
            error = RadioError(.unsupported, "\(name) has no Bluetooth LE. Use another adapter.")
        case .unauthorized:
            error = RadioError(
                .notPermitted, "\(name) is off, and this process may not switch it on. \(HCIPermission.remedy)")
        case .unknown, .resetting, .poweredOff, .poweredOn: return
        }
        for advert in outcomes.failed(advertising.wanted) { report(.advertising(advert, .failure(error))) }
    }

    /// Handles an advertising command that the controller carried out.
    private mutating func advertisingSucceeded(_ command: HCICommand, at now: Timestamp) {
        advertising.done(command)
        reportAdvertising()
        guard advertising.isSettled else { return }
        if !advertising.isHeldUp { advertisingBackoff.reset() }
        turnEnd = now.advanced(by: configuration.turn)
    }

    /// Handles an advertising command that the controller refused, which ends the attempt for its adverts.
    private mutating func advertisingFailed(_ command: HCICommand, _ status: HCIStatus, at now: Timestamp) {
        let why =
            status == .disallowed
            ? "other software advertises with it. Use another adapter, or end it: bluetoothctl advertise off"
            : "\(status)."
        let error = RadioError(.failed, "\(name) refused \(command.opcode): \(why)")
        for advert in outcomes.failed(advertising.refused) { report(.advertising(advert, .failure(error))) }
        advertisingRetry = now.advanced(by: advertisingBackoff.next().clampedNanoseconds)
    }

    /// Performs the advertising operations that are due.
    private mutating func advanceAdvertising(to now: Timestamp) {
        guard phase == .working else { return }
        if advertising.isHeldUp, now >= advertisingRetry { advertising.retry() }
        if let rotation, now >= rotationEnd {
            rotationEnd = now.advanced(by: rotation)
            advertising.renewAddresses()
        }
        guard advertising.takesTurns, now >= turnEnd else { return }
        turnEnd = now.advanced(by: configuration.turn)
        if advertising.isSettled { advertising.advanceTurns() }
    }

    private mutating func reportAdvertising() {
        let adverts = outcomes.succeeded(advertising.onAir)
        guard !adverts.isEmpty else { return }
        if advertising.takesTurns, !isTurnTakingReported {
            isTurnTakingReported = true
            report(
                .degraded,
                "the adapter sends \(advertising.slotCount) beacons at a time, so \(advertising.wanted.count) take turns of "
                    + "\(Self.seconds(configuration.turn)).")
        }
        for advert in adverts { report(.advertising(advert, .success(()))) }
    }
}
