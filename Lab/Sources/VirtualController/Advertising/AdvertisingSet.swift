import BeaconModel

/// An advertising set of a controller, enabled or not.
struct AdvertisingSet: Sendable {
    /// The host's number of a set; those of extended advertising are below 0xF0 (Core Specification 5.3, Vol 4, Part E,
    /// 7.8.53).
    typealias Handle = UInt16

    /// The handle of the only advert of a host that uses the legacy commands, which have no handles.
    static let legacyHandle: Handle = 0x100

    /// Ten milliseconds, the unit of durations and the maximum random delay after the interval (Vol 6, Part B,
    /// 4.4.2.2.1).
    static let tenMilliseconds: Int64 = 10_000_000

    /// The form of the advert. The defaults here and below are those of the legacy commands (7.8.5).
    var form: AdvertisingForm = [.legacy, .connectable, .scannable]

    /// The time from one advert to the next without the random delay, in nanoseconds.
    var interval: Int64 = 1_280_000_000

    /// True to send from a random address.
    var usesRandomAddress = false

    /// The set's random address; the legacy advert uses the controller's.
    var randomAddress: DeviceAddress?

    var data: [UInt8] = []
    var scanResponse: [UInt8] = []

    /// The time of the next advert, in nanoseconds, or nil while the set is disabled.
    var next: Int64?

    /// The time at which the set ends by itself, in nanoseconds.
    var end: Int64?

    /// The number of adverts after which the set ends by itself.
    var limit: Int?

    /// The number of adverts sent since the set was enabled.
    var sent = 0

    var isEnabled: Bool { next != nil }

    /// Enables the set.
    mutating func enable(at time: Int64, end: Int64? = nil, limit: Int? = nil) {
        next = time
        self.end = end
        self.limit = limit
        sent = 0
    }

    /// Disables the set.
    mutating func disable() { next = nil }
}
