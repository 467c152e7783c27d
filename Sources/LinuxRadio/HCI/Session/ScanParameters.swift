import BeaconRadio

/// How a controller listens.
struct ScanParameters: Hashable {
    /// Whether it asks those that it hears for more. That tells them of us and costs air, so we never do on our own.
    var isActive: Bool

    /// From the start of one window to the start of the next, each on another of the three channels, in 0.625 ms (Core
    /// Specification 5.3, Vol 4, Part E, 7.8.10).
    var interval: UInt16

    /// How long it listens in each interval, in the same unit.
    var window: UInt16

    /// 60.6 ms, by which processes of ours know each other's scans: no other software that we know of has just this. The
    /// kernel itself has 60 ms for its background scan and 11.25 ms for discovery (hci_core.c: le_scan_interval; hci_sync.c:
    /// DISCOV_LE_SCAN_INT).
    private static let ownInterval: UInt16 = 0x61

    /// All of the time: nothing is missed but while the controller goes to the next channel or sends.
    static let always = ScanParameters(isActive: false, interval: ownInterval, window: ownInterval)

    /// Half of the time, and half of the power; the rest is left to Wi-Fi and to connections that share the antenna.
    ///
    /// Of a beacon that advertises each second as many as 30 adverts would have to be missed in a row to be taken for gone,
    /// which happens once in 10^9 times; of one that advertises each 5 s it is six, once in 64. Less would lose these. The
    /// kernel's own background scan listens for half of the time too (hci_core.c: le_scan_window).
    static let half = ScanParameters(isActive: false, interval: ownInterval, window: 0x31)

    /// Whether a process of ours listens like this.
    var isOwn: Bool { interval == Self.ownInterval }

    /// Whether whoever wants to listen like `other` is served by this.
    func covers(_ other: ScanParameters) -> Bool {
        interval == other.interval && window >= other.window && (isActive || !other.isActive)
    }

    init(isActive: Bool, interval: UInt16, window: UInt16) {
        self.isActive = isActive
        self.interval = interval
        self.window = window
    }

    /// How to listen in a mode, or nil where not at all.
    init?(_ mode: ScanMode) {
        switch mode {
        case .off: return nil
        case .watching: self = .half
        case .ranging: self = .always
        }
    }
}
