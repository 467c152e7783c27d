import BeaconModel
import BeaconRadio
import BeaconSupport

/// The dialogue with one controller, without the socket: events in, commands and notices out, time an argument.
///
/// It discovers the controller's features and brings scan and adverts to what is wanted. One command is under way at a
/// time. A command that fails is tried again after a while; one that is not answered, and one that fails twice, has the
/// adapter switched off and on.
struct ControllerSession {
    enum Phase {
        /// The adapter is removed, or off, or not ours to use.
        case idle
        /// It is being switched.
        case switching
        /// Its features are being read.
        case asking
        /// It does what is wanted.
        case working
        /// It has no LE.
        case useless
    }

    /// The adapter as people know it.
    var name: String

    let configuration: ControllerConfiguration
    var phase = Phase.idle
    var discovery = FeatureDiscovery()
    var flow: CommandFlow
    var inherited: [HCICommand] = [] { didSet { isUndoKnown = false } }
    var scan = ScanControl(address: AdvertisingControl.randomAddress()) { didSet { isUndoKnown = false } }
    var advertising: AdvertisingControl { didSet { isUndoKnown = false } }
    var watchdog: Watchdog
    var backoff: Backoff
    var advertisingBackoff: Backoff
    var outcomes = AdvertisingOutcomes()
    var steps: [SessionStep] = []
    var protected: [HCICommand] = []
    var isUndoKnown = false

    var scanRetry = Timestamp.zero
    var powerRetry: (change: PowerChange, time: Timestamp)?
    var turnEnd = Timestamp.latest
    /// The time after which adverts get another address, in nanoseconds; nil where they keep theirs.
    var rotation: Int64?
    var rotationEnd = Timestamp.latest
    var advertisingRetry = Timestamp.latest
    var isTurnTakingReported = false
    var hasFailed = false
    var isBlockReported = false
    /// True from when total silence in a busy air was noticed until something is heard.
    var isDeaf = false
    /// The number of times that the deaf adapter was switched off and on.
    var resets = 0
    /// True where this process may not switch the adapter.
    var mayNotSwitch = false
    var lastInterference = Timestamp.zero
    var nextRevivalNotice = Timestamp.zero

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

    /// Returns the steps to be done now, each once.
    mutating func drainSteps() -> [SessionStep] {
        defer { steps = [] }
        return steps
    }

    /// The commands that take back all that is ours.
    var undo: [HCICommand] { inherited + advertising.undo + (scan.undo.map { [$0] } ?? []) }

    /// True if the controller carries out our commands.
    var isWorking: Bool { phase == .working }

    /// True if our scan is on, so that silence would mean something.
    var isScanning: Bool { phase == .working && scan.wanted != nil && scan.isOn == true }

    /// True where the controller's events are counted, which begins anew with each scan.
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
        if scan.wanted == nil { watchdog.begin(at: now) } else { watchdog.listenAnew() }
        // Who does not listen has nothing to wait for.
        if parameters == nil { endDeafness() }
        scan.wanted = parameters
        scanRetry = .zero
        proceed(at: now)
    }

    /// Takes back what a process left that has ended.
    mutating func inherit(_ commands: [HCICommand]) { inherited += commands }

    /// Leaves these advertising sets to those who use them.
    mutating func leave(_ sets: Set<UInt8>) { advertising.setsOfOthers = sets }
}

// MARK: - Time

extension ControllerSession {
    /// Does what is due. What has come has to be received before, so that an answer which was only read late is no
    /// time-out.
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

    /// Does what a silence asks for: total silence of a busy air is deafness, and has the adapter switched off and on
    /// until something is heard; any other has the scan begun anew, soon and without a word, and again where it lasts,
    /// and then the adapter switched ever more seldom.
    private mutating func judgeSilence(at now: Timestamp) {
        if isDeaf {
            guard now.since(watchdog.lastSign) >= configuration.deafness else { return }
            guard resets < configuration.mostResets else {
                endDeafness()
                watchdog.begin(at: now)
                return report(
                    .adapterUsed,
                    "nothing is heard though the adapter was reset \(resets) times: there is nothing to hear.")
            }
            return reset("still nothing is heard", at: now)
        }
        if watchdog.isDeaf(at: now) {
            isDeaf = true
            steps.append(.deaf(from: watchdog.lastSign, to: now))
            return reset(
                "many devices were heard, and then nothing at all for \(Self.seconds(now.since(watchdog.lastSign))); no "
                    + "region is left until something is heard", at: now)
        }
        // What another process of ours began is for that to begin anew.
        if watchdog.isScanDoubtful(at: now), !scan.isPeers { restartSilentScan() }
        guard watchdog.isSilent(at: now) else { return }
        restartSilentScan()
        let silences = watchdog.silences
        guard silences > 1 else {
            return report(
                .scanRestarted,
                "no advert was heard for \(Self.seconds(configuration.silence)); the scan is restarted, in case it died. "
                    + "In a place without Bluetooth that is no fault.")
        }
        // After 2, 4, 8 … silences: an empty place is no fault, and other software may use the adapter.
        guard silences.nonzeroBitCount == 1, silences <= configuration.mostSilences, !mayNotSwitch else { return }
        reset(
            "no advert was heard for \(Self.seconds(configuration.silence * Int64(silences))), though the scan was "
                + "restarted", at: now)
    }

    /// Begins a scan anew by which nothing is heard: the controller may have been reset behind the kernel's back.
    private mutating func restartSilentScan() {
        scan.restart(masks: HCICommand.setEventMasks(isExtended: features.scansExtended))
    }

    /// Has the adapter switched off and on, or only the scan begun anew where this process may do no more.
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

    /// Sends the next command, if none is under way and there is one to send.
    mutating func proceed(at now: Timestamp) {
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

    /// Asks for the protection of all that is ours before it is sent.
    mutating func protect() {
        // Most often nothing has changed since the last batch of adverts.
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

/// A step that a controller session asks for. Steps are done in their order.
enum SessionStep {
    /// Send this command.
    case send(HCICommand)
    /// See to it that these commands are sent even if this process dies.
    case protect([HCICommand])
    /// Switch the adapter, and report the outcome to the session.
    case power(PowerChange)
    /// Report this event.
    case report(SourceEvent)
    /// Report that this adapter heard nothing for a while, and that it is not known what there was to be heard.
    case deaf(from: Timestamp, to: Timestamp)
}

/// The times of a controller session.
struct ControllerConfiguration {
    /// The silence after which the scan is begun anew, in nanoseconds. 90 s is what the Bluetooth integration of Home
    /// Assistant waits for, which has met most adapters there are (habluetooth, const.py: SCANNER_WATCHDOG_TIMEOUT).
    var silence: Int64 = 90_000_000_000

    /// The number of resets of a deaf adapter after which silence is believed: with their waits, some eight minutes.
    var mostResets = 8

    /// The number of such silences in a row after which the adapter is left as it is.
    var mostSilences = 1 << 10

    /// The time within which a deaf adapter that was switched off and on has to hear something, in nanoseconds: long
    /// enough for two readings of the controller's count.
    var deafness: Int64 = 25_000_000_000

    /// The time after a restart of the scan within which what is heard shows that it had died, in nanoseconds: some
    /// intervals of common beacons.
    var revival: Int64 = 3_000_000_000

    /// The time for which such a scan is not reported again, in nanoseconds.
    var revivalPause = AirActivity.revivalPause

    /// The interval at which the controller's count of events is read while a filter keeps adverts from us, in
    /// nanoseconds.
    var countInterval: Int64 = 10_000_000_000

    /// The time to wait for the answer to a command, in nanoseconds. The kernel itself gives up after 2 s and sends the
    /// next one (hci.h: HCI_CMD_TIMEOUT), so that after 3 s the way is free again.
    var answerTime: Int64 = 3_000_000_000

    /// The time that other software is let alone after a command of its own, in nanoseconds. The kernel sends what
    /// belongs together within some tens of milliseconds, and a command of ours in between would have its next one
    /// refused.
    var courtesy: Int64 = 300_000_000

    /// The time for which each of several beacons is sent where they share an advertising slot, in nanoseconds: three
    /// times at 100 ms.
    var turn: Int64 = 300_000_000

    /// The wait for the next attempt after a refusal, or after the adapter was switched to no avail, in nanoseconds;
    /// each further one waits twice as long, up to ``longestDelay``.
    var firstDelay: Int64 = 1_000_000_000

    /// The longest time between two attempts, in nanoseconds.
    var longestDelay: Int64 = 300_000_000_000

    /// The pauses between attempts.
    var backoff: Backoff { Backoff(first: .nanoseconds(firstDelay), longest: .nanoseconds(longestDelay)) }

    /// The interval at which a switch that blocks the radio is read, in nanoseconds.
    var blockInterval: Int64 = 10_000_000_000
}
