import BeaconModel
import BeaconRadio

/// The recent activity of the air at one adapter, for judging a silence.
struct AirActivity {
    /// The shortest suspicious silence in a busy air, in nanoseconds. The value is our choice: common devices send at
    /// least every 1.3 s (Apple's Accessory Design Guidelines, the slowest of the recommended intervals), and most
    /// regions end after 30 s, so the receiver must know before that.
    static let longestSilence: Int64 = 10 * Timestamp.nanosecondsPerSecond

    /// The events in ten seconds that only many devices cause: twenty beacons at 10 Hz. Twenty devices do not all leave
    /// within a few seconds. The value is our choice: if they do leave, a region ends some minutes later than it could
    /// (`ControllerConfiguration.maximumResets`). Addresses prove less, since one device may use a new one for each
    /// advert.
    private static let eventsOfMany = 2000.0

    /// The events in ten seconds after which ten seconds of silence may mean that the scan has died: a beacon that
    /// sends once a second, the slowest common setting, while the scan listens half of the time and misses some
    /// adverts. The value is our choice: a needless restart costs three commands.
    private static let fewEvents: Int32 = 3

    /// The events in ten seconds of an air without such silences.
    private static let steadyEvents: Int32 = 10

    /// The counting period, in nanoseconds: a count covers one to two periods, or two to three if adverts are few.
    private static let period: Int64 = 5 * Timestamp.nanosecondsPerSecond

    /// The time until another died scan is reported, in nanoseconds. The value is our choice: a device that sends in
    /// bursts looks the same.
    static let revivalPause: Int64 = 3600 * Timestamp.nanosecondsPerSecond

    /// ``eventsOfMany``, scaled to the part of the time in which the scan listens.
    private let leastEvents: Int32

    private var earliest: Int32 = 0
    private var earlier: Int32 = 0
    private var current: Int32 = 0
    private var periodEnd = Timestamp.zero

    /// The newest counts of events, each of about ten seconds.
    private var counts: [Int32] = []

    /// - Parameter share: the part of the time in which the scan listens.
    init(share: Double = 1) { leastEvents = Int32(Self.eventsOfMany * share) }

    /// True if the ten seconds before the last advert contained many adverts.
    var isBusy: Bool { earlier + current >= leastEvents }

    /// True if adverts were frequent enough that a silence is no coincidence.
    var isLively: Bool { earliest + earlier + current >= Self.fewEvents }

    /// True if adverts were so frequent that no silence lasted seconds.
    var isSteady: Bool { earliest + earlier + current >= Self.steadyEvents || usualCount >= Self.steadyEvents }

    /// True if the controller's events were those of many devices.
    var isBusyByCount: Bool { usualCount >= leastEvents }

    /// True if events were frequent enough that a silence is no coincidence. With fewer than three counts the greatest
    /// one decides: a restart of the scan costs little, a false exit much.
    var isLivelyByCount: Bool { (counts.count < 3 ? counts.max() ?? 0 : usualCount) >= Self.fewEvents }

    /// The median of the newest three counts, since the last one may cover less time; the lesser of two; 0 for fewer,
    /// since deafness makes the session switch the adapter off and on.
    private var usualCount: Int32 {
        switch counts.count {
        case 3: counts.sorted()[1]
        case 2: min(counts[0], counts[1])
        default: 0
        }
    }

    /// Notes an advert.
    @inline(__always)
    mutating func heardAdvert(at now: Timestamp) {
        if now >= periodEnd {
            switch now.since(periodEnd) {
            case ..<Self.period: (earliest, earlier) = (earlier, current)
            case ..<(2 * Self.period): (earliest, earlier) = (current, 0)
            default: (earliest, earlier) = (0, 0)
            }
            current = 0
            periodEnd = now.advanced(by: Self.period)
        }
        current += 1
    }

    /// Notes the number of events that the controller has sent since the last count, about ten seconds ago.
    mutating func counted(_ events: Int32) {
        if counts.count == 3 { counts.removeFirst() }
        counts.append(events)
    }
}

extension RadioNotice {
    /// Returns the notice for a scan that receives adverts again after a restart.
    ///
    /// - Parameter silence: the length of the silence before the restart, in nanoseconds.
    static func revival(after silence: Int64) -> String {
        "the scan heard nothing for \(ControllerSession.seconds(silence)), and hears adverts again after a restart. It had "
            + "died, or the devices here paused."
    }
}
