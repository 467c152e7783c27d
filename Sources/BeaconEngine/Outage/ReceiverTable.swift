import BeaconModel

/// A stretch of time in nanoseconds, its end not included.
struct Stretch: Equatable {
    var from: Int64
    var to: Int64

    static let empty = Stretch(from: .min, to: .min)

    var isEmpty: Bool { from >= to }

    func touches(_ other: Stretch) -> Bool {
        !isEmpty && !other.isEmpty && from <= other.to && other.from <= to
    }

    /// Returns the parts of this stretch that are not in another, at most two.
    func parts(without other: Stretch) -> [Stretch] {
        guard !other.isEmpty else { return [self] }
        return [Stretch(from: from, to: min(to, other.from)), Stretch(from: max(from, other.to), to: to)]
            .filter { !$0.isEmpty }
    }

    /// Returns both stretches in one where they touch, and otherwise the other one unless it is empty.
    func extended(by other: Stretch) -> Stretch {
        guard !other.isEmpty else { return self }
        return touches(other) ? Stretch(from: min(from, other.from), to: max(to, other.to)) : other
    }

    /// Returns the length of the part of the stretch that lies after a moment.
    ///
    /// - Parameters:
    ///   - time: the moment, as an earlier call for `counted` has moved it.
    ///   - counted: the stretch that was counted before. What happened before it has been moved by its length, which is
    ///     of no account to a later stretch, but to an earlier one.
    func length(after time: Int64, having counted: Stretch) -> Int64 {
        let isEarlier = !counted.isEmpty && to <= counted.from && time < counted.to
        return max(0, to - max(from, isEarlier ? time - (counted.to - counted.from) : time))
    }
}

/// The table of receivers, each with its deafness.
struct ReceiverTable {
    struct Receiver {
        let id: ReceiverID

        /// The time at which it became deaf, in nanoseconds; the end of time while it hears.
        var deafSince: Int64 = .max

        /// True while nobody knows whether it is deaf.
        var isDoubted = false

        /// The newest stretch of deafness that is over and was counted.
        var counted = Stretch.empty

        /// The decibels by which its readings are too high.
        var offset = 0.0

        /// What is below it, it does not hear.
        var floor = ReceiverFloor(sensitivity: ReceiverCalibration.defaultSensitivity)

        var isHearing: Bool { deafSince == .max }

        /// True where it was deaf at a moment, as far as the newest stretch says. A doubt is no deafness: what is told
        /// of each second is told of it too.
        func isDeaf(at time: Int64) -> Bool { !isDoubted && deafness(at: time) != nil }

        /// Returns since when it was deaf at a moment, as far as the newest stretch says; nil where it heard.
        func deafness(at time: Int64) -> Int64? {
            if time > deafSince { return deafSince }
            return counted.from < time && time < counted.to ? counted.from : nil
        }

        /// The newest stretch of deafness, which ends with time where it is not over.
        var newestDeafness: Stretch {
            guard !isHearing else { return counted }
            let open = Stretch(from: deafSince, to: .max)
            return counted.touches(open) ? counted.extended(by: open) : open
        }
    }

    private static let unknown: Int32 = -1
    private static let refused: Int32 = -2

    /// The newest stretch in which all were deaf that is over and was counted.
    var countedTogether = Stretch.empty

    private let capacity: Int
    private var receivers: [Receiver] = []

    /// The place of each receiver by its index, or ``unknown`` or ``refused``.
    private var places: [Int32] = []

    /// The number of receivers that are deaf.
    private(set) var deafCount = 0

    /// The first time, in nanoseconds: before a receiver has come, nothing is heard from then on.
    private var beginning: Int64 = .max

    init(capacity: Int) { self.capacity = max(capacity, 1) }

    var count: Int { receivers.count }

    /// True where no receiver hears, or none has come.
    var areAllDeaf: Bool { deafCount == receivers.count }

    subscript(place: Int) -> Receiver {
        get { receivers[place] }
        set {
            deafCount += (newValue.isHearing ? 0 : 1) - (receivers[place].isHearing ? 0 : 1)
            receivers[place] = newValue
        }
    }

    /// Returns a receiver's place, or nil where it is not known or was refused.
    func place(of receiver: ReceiverID) -> Int? {
        let index = Int(receiver.index)
        guard index < places.count, places[index] >= 0 else { return nil }
        return Int(places[index])
    }

    func isNew(_ receiver: ReceiverID) -> Bool {
        Int(receiver.index) >= places.count || places[Int(receiver.index)] == Self.unknown
    }

    /// Adds a receiver that is new.
    ///
    /// - Returns: its place, or nil if there are too many.
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

    /// Returns the level in dBm that a beacon has at a receiver of no offset, of readings at the receiver at this
    /// place.
    @inline(__always)
    func level(of reading: Double, by place: Int) -> Double {
        receivers[place].floor.level(of: reading) - receivers[place].offset
    }

    /// Returns true for a reading that may say something of a receiver's floor.
    @inline(__always)
    func isNearFloor(_ reading: Int8, of place: Int) -> Bool { receivers[place].floor.isNear(Float(reading)) }

    /// Adds what a second's mean says of a receiver's floor.
    @inline(__always)
    mutating func learnFloor(of place: Int, from mean: Float) { receivers[place].floor.learn(mean) }

    /// Returns true where a receiver hears; one that is not known does.
    func isHearing(_ receiver: ReceiverID) -> Bool { place(of: receiver).map { receivers[$0].isHearing } ?? true }

    /// Returns the newest moment at which a receiver heard, `time` if it hears.
    ///
    /// It is kept out of the way of an advert, which asks only while a receiver is deaf.
    @inline(never)
    func lastHearing(of receiver: ReceiverID, until time: Int64) -> Int64 {
        place(of: receiver).map { receivers[$0].isDoubted ? time : min(time, receivers[$0].deafSince) } ?? time
    }

    /// Begins with the first time: a receiver that was deaf before it has heard nothing up to and including it.
    mutating func start(at time: Int64) {
        beginning = time
        for place in receivers.indices where !receivers[place].isHearing { receivers[place].deafSince = time - 1 }
    }

    /// Returns the stretch in which all receivers were deaf, as far as the newest of each says.
    var commonDeafness: Stretch {
        guard var common = receivers.first?.newestDeafness else { return Stretch(from: beginning, to: .max) }
        for receiver in receivers.dropFirst() {
            let deafness = receiver.newestDeafness
            common = Stretch(from: max(common.from, deafness.from), to: min(common.to, deafness.to))
        }
        return common.isEmpty ? .empty : common
    }
}
