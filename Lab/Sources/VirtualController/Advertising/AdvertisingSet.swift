import BeaconModel

/// One thing that a controller advertises, on or off.
struct AdvertisingSet: Sendable {
    /// The number by which the host names a set; those of extended advertising are below 0xF0 (Core Specification 5.3,
    /// Vol 4, Part E, 7.8.53).
    typealias Handle = UInt16

    /// The one advert of a host that uses the legacy commands, which name none.
    static let legacyHandle: Handle = 0x100

    /// Ten milliseconds, which is the unit of durations and the most that chance adds to the interval (Vol 6, Part B,
    /// 4.4.2.2.1).
    static let tenMilliseconds: Int64 = 10_000_000

    /// In what form it is sent. The defaults here and below are those of the legacy commands (7.8.5).
    var form: AdvertisingForm = [.legacy, .connectable, .scannable]

    /// From one advert to the next, chance aside, in nanoseconds.
    var interval: Int64 = 1_280_000_000

    /// Whether it is sent from a random address.
    var usesRandomAddress = false

    /// The set's own random address; the one legacy advert takes the controller's.
    var randomAddress: DeviceAddress?

    var data: [UInt8] = []
    var scanResponse: [UInt8] = []

    /// When it is sent next, in nanoseconds, or nil while it is off.
    var next: Int64?

    /// When it ends by itself, in nanoseconds.
    var end: Int64?

    /// After how many adverts it ends by itself.
    var limit: Int?

    /// The adverts sent since it was switched on.
    var sent = 0

    var isEnabled: Bool { next != nil }

    /// Switches it on.
    mutating func enable(at time: Int64, end: Int64? = nil, limit: Int? = nil) {
        next = time
        self.end = end
        self.limit = limit
        sent = 0
    }

    /// Switches it off.
    mutating func disable() { next = nil }
}
