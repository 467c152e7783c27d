import BeaconModel
import BeaconRadio

/// A control loop that brings a controller's scan to the requested state, even if other software changes it.
///
/// It keeps the known state of the controller and returns the next command towards the goal. A refusal, a reset or a
/// command of other software needs no separate path: it changes the known state, and so the next command.
struct ScanControl {
    /// The requested scan parameters; nil for no scan.
    var wanted: ScanParameters?

    /// True to use extended commands.
    var isExtended = false

    /// The parameters that the controller has; nil if they are unknown.
    private var parameters: ScanParameters?

    /// The random address in scan requests, so that they do not reveal the machine's address.
    private let address: DeviceAddress

    private enum OwnAddress {
        /// The controller may have a random address or not.
        case unknown
        /// The controller has a random address.
        case random
        /// The controller refused an address while other software's adverts or scan were on the air.
        case refused
    }

    private var ownAddress = OwnAddress.unknown
    private var filtersDuplicates = false

    /// True if the controller scans; nil if that is unknown.
    private(set) var isOn: Bool?

    /// True if we began the scan.
    private(set) var isOurs = false

    /// True if another process of ours began the scan. It restarts the scan by itself if it is ended.
    private(set) var isPeers = false

    /// The parameters of other software's scan, while it scans.
    private(set) var others: ScanParameters?
    private var othersParameters: ScanParameters?

    /// True if the scan must be restarted though it seems to be as requested.
    private var isStale = false

    /// True if the parameters must be set again though the controller seems to have them.
    private var areParametersStale = false

    /// The commands that enable the scan's events, which a controller may have lost.
    private var staleMasks: [HCICommand] = []

    init(address: DeviceAddress) { self.address = address }

    /// Returns true for the command that sets the address of scan requests.
    func isOwnAddress(_ command: HCICommand) -> Bool { command == .setRandomAddress(address) }

    /// Notes that the controller received a random address, for adverts or from other software.
    mutating func noteRandomAddress() { ownAddress = .random }

    /// True if the controller's scan is as requested.
    var isSettled: Bool { next == nil }

    /// The parameters to scan with: those requested, but active while other software needs that for device names.
    private var goal: ScanParameters? {
        guard var goal = wanted else { return nil }
        goal.isRandom = goal.isActive ? ownAddress != .refused : others?.isRandom ?? false
        goal.isActive = goal.isActive || others?.isActive ?? false
        return goal
    }

    /// The next command towards the goal, or nil if there is nothing to do.
    var next: HCICommand? {
        guard let goal else {
            // A scan of other software stays.
            return isOurs && others == nil ? end : nil
        }
        switch isOn {
        case true?:
            let isAsWanted = isPeers ? parameters?.covers(goal) == true : parameters == goal
            return isAsWanted && !filtersDuplicates && !isStale ? nil : end
        case nil where isStale:
            return end
        case nil, false?:
            if isOn == false, let mask = staleMasks.first { return mask }
            if wanted?.isActive == true, ownAddress == .unknown {
                // A controller refuses an address during a scan, and an active scan needs one.
                if isOn == false { return .setRandomAddress(address) }
                var probe = goal
                (probe.isActive, probe.isRandom) = (false, false)
                return .setScanParameters(probe, isExtended: isExtended)
            }
            // If it is unknown whether a scan is on, the controller refuses this if one is.
            guard isOn == false, parameters == goal, !areParametersStale else {
                return .setScanParameters(goal, isExtended: isExtended)
            }
            return .setScanEnable(true, isExtended: isExtended)
        }
    }

    /// The command that ends our scan, or nil without a scan of ours.
    var undo: HCICommand? { (isOurs || wanted != nil) && others == nil ? end : nil }

    /// The command that ends a scan.
    var end: HCICommand { .setScanEnable(false, isExtended: isExtended) }

    /// Notes a reset of the controller.
    mutating func forget() {
        parameters = nil
        ownAddress = .unknown
        filtersDuplicates = false
        isOn = false
        isOurs = false
        isPeers = false
        others = nil
        othersParameters = nil
        isStale = false
        areParametersStale = false
        staleMasks = []
    }

    /// Notes that the state of the controller is unknown.
    mutating func doubt() {
        forget()
        isOn = nil
    }

    /// Restarts the scan even if it seems to be on. A controller that has lost its scan has lost its parameters, too.
    ///
    /// - Parameter masks: the commands that make the controller send its events, if it may have lost those settings as
    ///   well.
    mutating func restart(masks: [HCICommand] = []) {
        isStale = true
        areParametersStale = true
        ownAddress = .unknown
        staleMasks = masks
    }

    /// Notes that the controller carried out a command from `next`.
    mutating func succeeded(_ command: HCICommand) {
        switch command.opcode {
        case .setEventMask, .setLEEventMask: staleMasks.removeAll { $0 == command }
        case .setRandomAddress: ownAddress = .random
        case .setScanParameters, .setExtendedScanParameters:
            parameters = command.scanParameters
            areParametersStale = false
            if isOn == nil { isOn = false }
        case .setScanEnable, .setExtendedScanEnable:
            isOn = command.isEnabling
            isOurs = command.isEnabling
            isPeers = false
            filtersDuplicates = command.filtersDuplicates
            isStale = false
        default: break
        }
    }

    /// Notes that the controller refused a command from `next`.
    ///
    /// - Returns: true for a fault, false if there is another way.
    mutating func refused(_ command: HCICommand, _ status: HCIStatus) -> Bool {
        switch command.opcode {
        case .setEventMask, .setLEEventMask:
            // The masks stay as they were.
            staleMasks.removeAll { $0 == command }
            return false
        case .setRandomAddress:
            // Other software's adverts or scan are on the air. Their address may be random, and would then serve us
            // too.
            ownAddress = .refused
            return false
        case .setScanEnable where !command.isEnabling, .setExtendedScanEnable where !command.isEnabling:
            // There was no scan to end.
            isOn = false
            isOurs = false
            isPeers = false
            others = nil
            isStale = false
            return false
        case .setScanParameters where status == .disallowed && isOn == nil,
            .setExtendedScanParameters where status == .disallowed && isOn == nil:
            // A scan is already on. Whether it is active is unknown; most of the kernel's scans are not.
            isOn = true
            filtersDuplicates = true
            others = ScanParameters(isActive: false, interval: 0, window: 0)
            return false
        default:
            parameters = nil
            isOn = nil
            isStale = true
            return true
        }
    }

    /// Notes a command of other software that the controller carried out.
    ///
    /// - Returns: true if it ended or changed a scan of ours.
    mutating func observe(_ command: HCICommand) -> Bool {
        switch command.opcode {
        case .setRandomAddress: noteRandomAddress()
        case .setScanParameters, .setExtendedScanParameters:
            othersParameters = command.scanParameters
            parameters = othersParameters
        case .setScanEnable, .setExtendedScanEnable:
            isOn = command.isEnabling
            filtersDuplicates = command.filtersDuplicates
            isPeers = command.isEnabling && othersParameters?.isOwn == true
            if command.isEnabling { areParametersStale = false }
            if isPeers { isStale = false }
            // If two processes of ours each took the other's scan for foreign, both would leave it on.
            others = command.isEnabling && !isPeers ? othersParameters ?? .half : nil
            let wasOurs = isOurs
            isOurs = false
            return wasOurs && wanted != nil && !isPeers
        case .reset:
            let wasOurs = isOurs
            forget()
            return wasOurs && wanted != nil
        default: break
        }
        return false
    }
}

/// The parameters of a scan.
struct ScanParameters: Hashable {
    /// True to send scan requests to advertisers. That reveals us and costs air time, so it is used only for apps that
    /// search for devices, not for beacons.
    var isActive: Bool

    /// True if scan requests carry a random address instead of the adapter's. A passive scan sends none.
    var isRandom = false

    /// The time from the start of one window to the start of the next, in units of 0.625 ms (Core Specification 5.3,
    /// Vol 4, Part E, 7.8.10). Each window is on another of the three channels.
    var interval: UInt16

    /// The listening time in each interval, in the same unit.
    var window: UInt16

    /// 60.6 ms, which identifies scans of our processes: we know no other software with exactly this value. The kernel
    /// uses 60 ms for its background scan and 11.25 ms for discovery (hci_core.c: le_scan_interval; hci_sync.c:
    /// DISCOV_LE_SCAN_INT).
    private static let ownInterval: UInt16 = 0x61

    /// All of the time. Misses adverts only while the controller changes the channel or sends.
    static let always = ScanParameters(isActive: false, interval: ownInterval, window: ownInterval)

    /// All of the time, with scan requests to the advertisers found.
    static let discovery = ScanParameters(isActive: true, interval: ownInterval, window: ownInterval)

    /// Half of the time, for half of the power. The rest remains for Wi-Fi and for connections that share the antenna.
    ///
    /// A beacon that advertises every second is lost only after 30 missed adverts in a row, a probability of 1 in 10^9.
    /// For one that advertises every 5 s it is six in a row, 1 in 64. With shorter windows these beacons would be lost.
    /// The kernel's background scan also listens half of the time (hci_core.c: le_scan_window).
    static let half = ScanParameters(isActive: false, interval: ownInterval, window: 0x31)

    /// True if the scan belongs to a process of ours.
    var isOwn: Bool { interval == Self.ownInterval }

    /// The part of the time in which it listens.
    var share: Double { interval == 0 ? 1 : min(1, Double(window) / Double(interval)) }

    /// Returns true if a scan with these parameters satisfies a request for `other`.
    func covers(_ other: ScanParameters) -> Bool {
        interval == other.interval && window >= other.window && (isActive || !other.isActive)
    }

    init(isActive: Bool, isRandom: Bool = false, interval: UInt16, window: UInt16) {
        self.isActive = isActive
        self.isRandom = isRandom
        self.interval = interval
        self.window = window
    }

    /// Creates the parameters for a scan mode, or nil for none.
    init?(_ mode: ScanMode) {
        switch mode {
        case .off: return nil
        case .monitoring: self = .half
        case .ranging: self = .always
        case .discovery: self = .discovery
        }
    }
}
