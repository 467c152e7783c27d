/// Brings a controller's scan to what is wanted, whatever it does now and whoever else changes it.
///
/// It holds what the controller is known to do and gives the next command towards the goal, so that a refusal, a reset or a
/// command of other software needs no path of its own: it changes what is known, and the way to the goal is another.
struct ScanControl {
    /// How to listen; nil where not at all.
    var wanted: ScanParameters?

    /// Whether extended commands are used.
    var isExtended = false

    /// What the controller was last told; nil where that is not known.
    private var parameters: ScanParameters?
    private var filtersDuplicates = false

    /// Whether the controller scans; nil where that is not known.
    private(set) var isOn: Bool?

    /// Whether the scan was begun by us.
    private(set) var isOurs = false

    /// Whether the scan was begun by another process of ours, which begins it again itself if it is ended.
    private var isPeers = false

    /// How other software scans, while it does.
    private(set) var others: ScanParameters?
    private var othersParameters: ScanParameters?

    /// Whether the scan has to be ended and begun anew though it seems to be as wanted.
    private var isStale = false

    /// Whether the controller does what is wanted.
    var isSettled: Bool { next == nil }

    /// What to scan with: what is wanted, and actively as long as other software needs that for the names of devices.
    private var goal: ScanParameters? {
        guard var goal = wanted else { return nil }
        goal.isActive = others?.isActive ?? false
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
            // Where it is not known whether a scan is on, this is refused if one is.
            guard isOn == false, parameters == goal else {
                return .setScanParameters(goal, isExtended: isExtended)
            }
            return .setScanEnable(true, isExtended: isExtended)
        }
    }

    /// What takes our scan back, or nil where there is none to take back.
    var undo: HCICommand? { (isOurs || wanted != nil) && others == nil ? end : nil }

    /// What ends a scan.
    var end: HCICommand { .setScanEnable(false, isExtended: isExtended) }

    /// The controller was reset.
    mutating func forget() {
        parameters = nil
        filtersDuplicates = false
        isOn = false
        isOurs = false
        isPeers = false
        others = nil
        othersParameters = nil
        isStale = false
    }

    /// Nothing is known of the controller.
    mutating func doubt() {
        forget()
        isOn = nil
    }

    /// Begins the scan anew, even if it seems to be on.
    mutating func restart() { isStale = true }

    /// The controller did what `next` asked for.
    mutating func succeeded(_ command: HCICommand) {
        switch command.opcode {
        case .setScanParameters, .setExtendedScanParameters:
            parameters = command.scanParameters
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
            // Somebody scans already. Whether for names cannot be told; the kernel does without for most of its scans.
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

    /// Other software had the controller do this.
    ///
    /// - Returns: whether it ended or changed a scan of ours.
    mutating func observe(_ command: HCICommand) -> Bool {
        switch command.opcode {
        case .setScanParameters, .setExtendedScanParameters:
            othersParameters = command.scanParameters
            parameters = othersParameters
        case .setScanEnable, .setExtendedScanEnable:
            isOn = command.isEnabling
            filtersDuplicates = command.filtersDuplicates
            isPeers = command.isEnabling && othersParameters?.isOwn == true
            // Two processes of ours that each took the other's scan for somebody else's would both leave it on.
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
