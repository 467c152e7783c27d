import BeaconModel

/// A beacon as one receiver hears it from one address, with the data for every advert in one cache line.
///
/// The rest, which only ranging needs, is in its ``SampleDigest``, which each advert of a ranged beacon touches, and in
/// its ``TrackLevel``.
struct Track: BitwiseCopyable {
    var key: TrackKey

    /// The time at which it was last heard, in nanoseconds. Deafness of its receiver since then moves it forward.
    var lastHeard: Int64

    /// The regions and ranging requests that it matches, and the index version of that result.
    var matches: MatchSetID
    var matchVersion: UInt32

    var interval = IntervalLearner()

    /// The power at one meter that the adverts claim. Disputes about it are in ``Engine/powerDisputes``.
    var power: PowerClaim

    /// True if it is in the list of reported beacons.
    var isListed = false
}

/// A track's state between ranging reports. It is reset while the track is not listed, and so is its digest.
struct TrackLevel: BitwiseCopyable {
    var filter = AdaptiveFilter.State()

    /// The index of the beacon's calibration in ``CalibrationTable``.
    var calibration: UInt16 = 0

    /// The mean of the newest second with readings, in dBm.
    var reportedRSSI: Int8 = 0

    /// The proximity and ``unreadSeconds`` in one byte.
    private var proximityAndSeconds: UInt8 = 0

    /// Its position in the list of reported beacons; meaningless if it is not listed.
    var listPosition: UInt32 = 0

    /// The last known proximity, the basis of hysteresis.
    var proximity: Proximity {
        get { Proximity(rawValue: proximityAndSeconds & 3) ?? .unknown }
        set { proximityAndSeconds = proximityAndSeconds & ~3 | newValue.rawValue }
    }

    /// The seconds of adverts without a reading since the last reading, at most 63.
    ///
    /// A second counts for as long as the beacon's usual gap. Unheard beacons become unknown after 31 s at the latest,
    /// so 63 is enough.
    var unreadSeconds: UInt8 {
        get { proximityAndSeconds >> 2 }
        set { proximityAndSeconds = proximityAndSeconds & 3 | min(newValue, 63) << 2 }
    }
}

/// A track's identity: receiver, device address and beacon identity, in four words that are quick to compare and hash.
struct TrackKey: Equatable, BitwiseCopyable {
    var uuidHigh: UInt64
    var uuidLow: UInt64
    /// Major, minor and receiver, from the 48th bit on. None is shifted to the top bits: a processor that has just
    /// stored the two bytes of one field would stall when the compiler reads four of them, as it does if the others do
    /// not count.
    var numbers: UInt64
    /// The raw value of the device address.
    var address: UInt64

    @inline(__always)
    init(_ sighting: Sighting) {
        uuidHigh = sighting.identity.uuid.high
        uuidLow = sighting.identity.uuid.low
        numbers =
            UInt64(sighting.identity.major) &<< 32 | UInt64(sighting.identity.minor) &<< 16
            | UInt64(sighting.receiver.index)
        address = sighting.address.word
    }

    var identity: BeaconIdentity {
        BeaconIdentity(
            uuid: ProximityUUID(high: uuidHigh, low: uuidLow),
            major: UInt16(truncatingIfNeeded: numbers >> 32),
            minor: UInt16(truncatingIfNeeded: numbers >> 16))
    }

    var receiver: ReceiverID { ReceiverID(UInt16(truncatingIfNeeded: numbers)) }

    var deviceAddress: DeviceAddress { DeviceAddress(word: address) }

    /// Spreads all bits of the key over 32 bits: two products of 64 bits each, folded.
    ///
    /// - Parameter seed: a number that an attacker who wants collisions does not know.
    @inline(__always)
    func hash(seed: UInt64) -> UInt32 {
        // Odd constants without pattern: the golden ratio and the square root of two as 64-bit fractions.
        let first = (uuidHigh ^ seed).multipliedFullWidth(by: uuidLow ^ 0x9E37_79B9_7F4A_7C15)
        let second = (numbers ^ seed).multipliedFullWidth(by: address ^ 0x6A09_E667_F3BC_C909)
        let folded = first.high ^ first.low ^ (second.high &+ second.low)
        return UInt32(truncatingIfNeeded: (folded &* 0x9E37_79B9_7F4A_7C15) &>> 32)
    }
}
