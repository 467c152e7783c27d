import BeaconModel
import BeaconRadio

/// A control loop for a controller's scan: it brings the scan to what is wanted, even if other software changes it.
///
/// It holds what the controller is known to do and gives the next command towards the goal, so that a refusal, a reset
/// or a command of other software needs no path of its own: it changes what is known, and the way to the goal is
/// another.
struct ScanControl {
    /// The parameters of the scan that is wanted; nil for none.
    var wanted: ScanParameters?

    /// True if extended commands are used.
    var isExtended = false

    /// The parameters that the controller has; nil where they are not known.
    private var parameters: ScanParameters?

    /// The address that scan requests carry, made up for this, so that the air does not learn the machine's.
    private let address: DeviceAddress

    private enum OwnAddress {
        /// The controller may have a random address or not.
        case unknown
        /// It has one.
        case random
        /// It took none, while something of others was on the air.
        case refused
    }

    private var ownAddress = OwnAddress.unknown
    private var filtersDuplicates = false

    /// True if the controller scans; nil where that is not known.
    private(set) var isOn: Bool?

    /// True if the scan was begun by us.
    private(set) var isOurs = false

    /// True if the scan was begun by another process of ours, which begins it again itself if it is ended.
    private(set) var isPeers = false

    /// The parameters of other software's scan, while it scans.
    private(set) var others: ScanParameters?
    private var othersParameters: ScanParameters?

    /// True if the scan has to be ended and begun anew though it seems to be as wanted.
    private var isStale = false

    /// True if the parameters have to be set again though the controller seems to have them.
    private var areParametersStale = false

    /// The commands without whose effect a scan is not heard of, which a controller may have forgotten.
    private var staleMasks: [HCICommand] = []

    init(address: DeviceAddress) { self.address = address }

    /// Returns true for the command that sets the address of scan requests.
    func isOwnAddress(_ command: HCICommand) -> Bool { command == .setRandomAddress(address) }

    /// Notes that the controller got a random address: one for adverts, or another software's.
    mutating func noteRandomAddress() { ownAddress = .random }

    /// True if the controller does what is wanted.
    var isSettled: Bool { next == nil }

    /// The parameters to scan with: those that are wanted, and actively as long as other software needs that for the
    /// names of devices, too.
    private var goal: ScanParameters? {
        guard var goal = wanted else { return nil }
        goal.isRandom = goal.isActive ? ownAddress != .refused : others?.isRandom ?? false
        goal.isActive = goal.isActive || others?.isActive ?? false
        return goal
    }

    /// The next command towards what is wanted, or nil where there is nothing to do.
    var next: HCICommand? {
        guard let goal else {
            // What others began stays.
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
                // A controller that scans takes no address, and an active scan needs one.
                if isOn == false { return .setRandomAddress(address) }
                var probe = goal
                (probe.isActive, probe.isRandom) = (false, false)
                return .setScanParameters(probe, isExtended: isExtended)
            }
            // Where it is not known whether a scan is on, this is refused if one is.
            guard isOn == false, parameters == goal, !areParametersStale else {
                return .setScanParameters(goal, isExtended: isExtended)
            }
            return .setScanEnable(true, isExtended: isExtended)
        }
    }

    /// The command that takes our scan back, or nil where there is none.
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

    /// Nothing is known of the controller.
    mutating func doubt() {
        forget()
        isOn = nil
    }

    /// Begins the scan anew, even if it seems to be on. A controller that has forgotten it has forgotten its parameters
    /// too.
    ///
    /// - Parameter masks: the commands that have it send its events, where it may have forgotten that as well.
    mutating func restart(masks: [HCICommand] = []) {
        isStale = true
        areParametersStale = true
        ownAddress = .unknown
        staleMasks = masks
    }

    /// The controller did what `next` asked for.
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

    /// The controller refused what `next` asked for.
    ///
    /// - Returns: whether that is a fault. Else there is another way.
    mutating func refused(_ command: HCICommand, _ status: HCIStatus) -> Bool {
        switch command.opcode {
        case .setEventMask, .setLEEventMask:
            // It stays as it was.
            staleMasks.removeAll { $0 == command }
            return false
        case .setRandomAddress:
            // Something of others is on the air. Whether it has a random address, which would serve us too, is unknown.
            ownAddress = .refused
            return false
        case .setScanEnable where !command.isEnabling, .setExtendedScanEnable where !command.isEnabling:
            // There was nothing to end.
            isOn = false
            isOurs = false
            isPeers = false
            others = nil
            isStale = false
            return false
        case .setScanParameters where status == .disallowed && isOn == nil,
            .setExtendedScanParameters where status == .disallowed && isOn == nil:
            // A scan is on already. Whether it asks for names is unknown; most of the kernel's scans do not.
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
    /// - Returns: whether it ended or changed a scan of ours.
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
            // Two processes of ours that each took the other's scan for a foreign one would both leave it on.
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
    /// True if it asks those that it hears for more. That reveals us and costs air time, so we do it where an
    /// app looks for devices, and not for beacons.
    var isActive: Bool

    /// True if scan requests carry a random address, and not the adapter's own. A passive scan sends none.
    var isRandom = false

    /// From the start of one window to the start of the next, each on another of the three channels, in 0.625 ms (Core
    /// Specification 5.3, Vol 4, Part E, 7.8.10).
    var interval: UInt16

    /// The time that it listens in each interval, in the same unit.
    var window: UInt16

    /// 60.6 ms, by which processes of ours know each other's scans: no other software that we know of has just this.
    /// The kernel itself has 60 ms for its background scan and 11.25 ms for discovery (hci_core.c: le_scan_interval;
    /// hci_sync.c: DISCOV_LE_SCAN_INT).
    private static let ownInterval: UInt16 = 0x61

    /// All of the time: nothing is missed but while the controller changes the channel or sends.
    static let always = ScanParameters(isActive: false, interval: ownInterval, window: ownInterval)

    /// All of the time, and those that are heard are asked for their scan responses.
    static let discovery = ScanParameters(isActive: true, interval: ownInterval, window: ownInterval)

    /// Half of the time, and half of the power; the rest is left to Wi-Fi and to connections that share the antenna.
    ///
    /// Of a beacon that advertises each second as many as 30 adverts would have to be missed in a row to be taken for
    /// gone, which happens once in 10^9 times; of one that advertises each 5 s it is six, once in 64. Less would lose
    /// these. The kernel's own background scan listens for half of the time too (hci_core.c: le_scan_window).
    static let half = ScanParameters(isActive: false, interval: ownInterval, window: 0x31)

    /// True if a process of ours listens like this.
    var isOwn: Bool { interval == Self.ownInterval }

    /// The part of the time in which it listens.
    var share: Double { interval == 0 ? 1 : min(1, Double(window) / Double(interval)) }

    /// Returns true where a scan with these parameters serves a request for `other`.
    func covers(_ other: ScanParameters) -> Bool {
        interval == other.interval && window >= other.window && (isActive || !other.isActive)
    }

    init(isActive: Bool, isRandom: Bool = false, interval: UInt16, window: UInt16) {
        self.isActive = isActive
        self.isRandom = isRandom
        self.interval = interval
        self.window = window
    }

    /// The parameters for a scan mode, or nil for none.
    init?(_ mode: ScanMode) {
        switch mode {
        case .off: return nil
        case .monitoring: self = .half
        case .ranging: self = .always
        case .discovery: self = .discovery
        }
    }
}
