import BeaconModel

/// A period in nanoseconds, without its end.
struct Stretch: Equatable {
    var from: Int64
    var to: Int64

    static let empty = Stretch(from: .min, to: .min)

    var isEmpty: Bool { from >= to }

    func touches(_ other: Stretch) -> Bool {
        !isEmpty && !other.isEmpty && from <= other.to && other.from <= to
    }

    /// Returns the parts of this period that are not in another, at most two.
    func parts(without other: Stretch) -> [Stretch] {
        guard !other.isEmpty else { return [self] }
        return [Stretch(from: from, to: min(to, other.from)), Stretch(from: max(from, other.to), to: to)]
            .filter { !$0.isEmpty }
    }

    /// Returns the union of both periods if they touch; otherwise the other one unless it is empty.
    func extended(by other: Stretch) -> Stretch {
        guard !other.isEmpty else { return self }
        return touches(other) ? Stretch(from: min(from, other.from), to: max(to, other.to)) : other
    }

    /// Returns the length of the part of the period after a time.
    ///
    /// - Parameters:
    ///   - time: the time, already moved by an earlier call for `counted`.
    ///   - counted: the period that was counted before. Times before it have moved by its length. That affects only an
    ///     earlier period, not a later one.
    func length(after time: Int64, having counted: Stretch) -> Int64 {
        let isEarlier = !counted.isEmpty && to <= counted.from && time < counted.to
        return max(0, to - max(from, isEarlier ? time - (counted.to - counted.from) : time))
    }
}

/// The table of receivers, each with its deafness.
struct ReceiverTable {
    struct Receiver {
        let id: ReceiverID

        /// The time in nanoseconds at which it became deaf; the end of time while it hears.
        var deafSince: Int64 = .max

        /// True while it is uncertain whether it is deaf.
        var isDoubted = false

        /// The newest period of deafness that is over and counted.
        var counted = Stretch.empty

        /// False if its readings allow no distance.
        var isRanging = true

        /// The decibels by which its readings are too high.
        var offset = 0.0

        /// The learned offset in decibels, for distances only.
        var learnedOffset = 0.0

        /// The level below which it hears nothing.
        var floor = ReceiverFloor(sensitivity: ReceiverCalibration.defaultSensitivity)

        var isHearing: Bool { deafSince == .max }

        /// Returns true if the receiver was deaf at a time, as far as the newest period shows. Doubt is not deafness:
        /// reports continue each second.
        func isDeaf(at time: Int64) -> Bool { !isDoubted && deafness(at: time) != nil }

        /// Returns the start of the deafness at a time, as far as the newest period shows; nil if the receiver heard.
        func deafness(at time: Int64) -> Int64? {
            if time > deafSince { return deafSince }
            return counted.from < time && time < counted.to ? counted.from : nil
        }

        /// The newest period of deafness, which has no end if it continues.
        var newestDeafness: Stretch {
            guard !isHearing else { return counted }
            let open = Stretch(from: deafSince, to: .max)
            return counted.touches(open) ? counted.extended(by: open) : open
        }
    }

    private static let unknown: Int32 = -1
    private static let refused: Int32 = -2

    /// The newest period of common deafness that is over and counted.
    var countedTogether = Stretch.empty

    private let capacity: Int
    private var receivers: [Receiver] = []

    /// The index of each receiver, or ``unknown`` or ``refused``.
    private var places: [Int32] = []

    /// The number of receivers that are deaf.
    private(set) var deafCount = 0

    /// The first time in nanoseconds. From then until the first receiver appears, nothing is heard.
    private var beginning: Int64 = .max

    init(capacity: Int) { self.capacity = max(capacity, 1) }

    var count: Int { receivers.count }

    /// True if no receiver hears or exists.
    var areAllDeaf: Bool { deafCount == receivers.count }

    subscript(place: Int) -> Receiver {
        get { receivers[place] }
        set {
            deafCount += (newValue.isHearing ? 0 : 1) - (receivers[place].isHearing ? 0 : 1)
            receivers[place] = newValue
        }
    }

    /// Returns a receiver's index, or nil if it is unknown or was refused.
    func place(of receiver: ReceiverID) -> Int? {
        let index = Int(receiver.index)
        guard index < places.count, places[index] >= 0 else { return nil }
        return Int(places[index])
    }

    func isNew(_ receiver: ReceiverID) -> Bool {
        Int(receiver.index) >= places.count || places[Int(receiver.index)] == Self.unknown
    }

    /// Adds a new receiver.
    ///
    /// - Returns: its index, or nil if there are too many.
    mutating func add(_ receiver: ReceiverID) -> Int? {
        let index = Int(receiver.index)
        while places.count <= index { places.append(Self.unknown) }
        guard receivers.count < capacity else {
            places[index] = Self.refused
            return nil
        }
        places[index] = Int32(receivers.count)
        receivers.append(Receiver(id: receiver))
        return receivers.count - 1
    }

    /// Returns the level in dBm that a beacon would have at a receiver without an offset, from readings at the receiver
    /// with this index.
    @inline(__always)
    func level(of reading: Double, by place: Int) -> Double {
        receivers[place].floor.level(of: reading) - receivers[place].offset - receivers[place].learnedOffset
    }

    /// Returns true if a reading may be evidence of a receiver's floor.
    @inline(__always)
    func isNearFloor(_ reading: Int8, of place: Int) -> Bool { receivers[place].floor.isNear(Float(reading)) }

    /// Updates a receiver's floor with a second's mean.
    @inline(__always)
    mutating func learnFloor(of place: Int, from mean: Float) { receivers[place].floor.learn(mean) }

    /// Returns true if a receiver hears. Unknown receivers count as hearing.
    func isHearing(_ receiver: ReceiverID) -> Bool { place(of: receiver).map { receivers[$0].isHearing } ?? true }

    /// Returns the latest time at which a receiver heard, or `time` if it hears. The adverts of a receiver in doubt
    /// arrive late, and count at their own time.
    ///
    /// It is not inlined, because an advert calls it only while a receiver is deaf.
    @inline(never)
    func lastHearing(of receiver: ReceiverID, until time: Int64, advert: Int64 = .max) -> Int64 {
        guard let place = place(of: receiver) else { return time }
        let receiver = receivers[place]
        return min(time, receiver.isDoubted ? max(advert, receiver.deafSince) : receiver.deafSince)
    }

    /// Starts at the first time. A receiver that was deaf before has heard nothing up to and including it.
    mutating func start(at time: Int64) {
        beginning = time
        for place in receivers.indices where !receivers[place].isHearing { receivers[place].deafSince = time - 1 }
    }

    /// Returns the period in which all receivers were deaf, as far as the newest period of each shows.
    var commonDeafness: Stretch {
        guard var common = receivers.first?.newestDeafness else { return Stretch(from: beginning, to: .max) }
        for receiver in receivers.dropFirst() {
            let deafness = receiver.newestDeafness
            common = Stretch(from: max(common.from, deafness.from), to: min(common.to, deafness.to))
        }
        return common.isEmpty ? .empty : common
    }
}
