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
    /// The time after which adverts change their address, in nanoseconds; nil to keep it.
    var rotation: Int64?
    var rotationEnd = Timestamp.latest
    var advertisingRetry = Timestamp.latest
    var isTurnTakingReported = false
    var hasFailed = false
    var isBlockReported = false
    /// True from total silence in a busy air until the adapter receives something.
    var isDeaf = false
    /// The number of times that the deaf adapter was switched off and on.
    var resets = 0
    /// True if this process may not switch the adapter.
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
    var longestDelay: Int64 = 300_000_000_000

    /// The pauses between attempts.
    var backoff: Backoff { Backoff(first: .nanoseconds(firstDelay), longest: .nanoseconds(longestDelay)) }

    /// The interval at which the state of a switch that blocks the radio is read, in nanoseconds.
    var blockInterval: Int64 = 10_000_000_000
}
