import BeaconModel
import BeaconRadio

/// The recent activity of the air at one adapter, by which a silence is judged.
struct AirActivity {
    /// The silence of a busy air that is none, in nanoseconds: a choice. Common devices send at least every 1.3 s
    /// (Apple's Accessory Design Guidelines, the slowest of the recommended intervals), and regions are usually left
    /// after 30 s, before which it has to be known.
    static let longestSilence: Int64 = 10 * Timestamp.nanosecondsPerSecond

    /// The events in ten seconds that only many devices cause: what twenty beacons send at 10 Hz. They do not all leave
    /// within a few seconds. It is a choice; where they do, a region is left some minutes later than it could be
    /// (`ControllerConfiguration.mostResets`). Addresses say less: a single device may draw a new one for each advert.
    private static let eventsOfMany = 2000.0

    /// The events in ten seconds after which a silence of ten may be a scan that has died: those of a beacon that sends
    /// once a second, the slowest of common settings, where the scan listens for half of the time and some are missed.
    /// It is a choice: a restart in vain costs three commands.
    private static let fewEvents: Int32 = 3

    /// The events in ten seconds of an air that has no such silences.
    private static let steadyEvents: Int32 = 10

    /// The time for which adverts are counted, in nanoseconds: once to twice as long, and twice to three times where
    /// they are few.
    private static let period: Int64 = 5 * Timestamp.nanosecondsPerSecond

    /// The time for which a scan that had died is not reported again, in nanoseconds: a choice, since what sends in
    /// bursts looks the same.
    static let revivalPause: Int64 = 3600 * Timestamp.nanosecondsPerSecond

    /// As many of them as a scan hears that listens for a part of the time.
    private let leastEvents: Int32

    private var earliest: Int32 = 0
    private var earlier: Int32 = 0
    private var current: Int32 = 0
    private var periodEnd = Timestamp.zero

    /// The newest counts of events, each of about ten seconds.
    private var counts: [Int32] = []

    /// What is heard by a scan that listens for a part of the time.
    init(share: Double = 1) { leastEvents = Int32(Self.eventsOfMany * share) }

    /// True where many adverts were heard within the ten seconds before the last of them was.
    var isBusy: Bool { earlier + current >= leastEvents }

    /// True where adverts came often enough for a silence to be no chance.
    var isLively: Bool { earliest + earlier + current >= Self.fewEvents }

    /// True where they came so often that there was no silence of seconds.
    var isSteady: Bool { earliest + earlier + current >= Self.steadyEvents || usualCount >= Self.steadyEvents }

    /// True where the controller's events were those of many devices.
    var isBusyByCount: Bool { usualCount >= leastEvents }

    /// True where they came often enough for a silence to be no chance. Where listening has just begun, the greatest
    /// count tells: a restart of the scan costs little, and a region that is left by mistake much.
    var isLivelyByCount: Bool { (counts.count < 3 ? counts.max() ?? 0 : usualCount) >= Self.fewEvents }

    /// The median of the newest three counts, since the last may be that of a part of the time; the lesser of two, and
    /// 0 where there are fewer, since deafness has the adapter switched off and on.
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

    /// Notes the number of events that the controller has sent since the last time it was asked, about ten seconds ago.
    mutating func counted(_ events: Int32) {
        if counts.count == 3 { counts.removeFirst() }
        counts.append(events)
    }
}

extension RadioNotice {
    /// Returns the words for a scan that hears again since it was begun anew.
    ///
    /// - Parameter silence: the time for which nothing was heard before, in nanoseconds.
    static func revival(after silence: Int64) -> String {
        "nothing was heard for \(ControllerSession.seconds(silence)); since the scan was begun anew, something is. It had "
            + "died, or whatever advertises here paused."
    }
}
