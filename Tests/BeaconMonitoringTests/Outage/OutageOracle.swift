import BeaconModel
import BeaconRadio

/// The rules for outages once more, as plainly as can be, in steps of time between which nothing changes.

/// A radio that passes through states: since when it has been deaf, and whether that lasts.
struct OracleRadio {
    /// A radio that is on its way back is given as long as this before anybody hears of it.
    static let patience = 5.0

    private(set) var state = RadioState.unknown
    /// For how long it has been deaf; nil while it hears.
    private(set) var deafFor: Double? = 0
    /// True where the outage is known to whoever waits for the radio.
    private(set) var isLasting = false
    /// True where no region can be monitored.
    private(set) var isHopeless = false

    var isHearing: Bool { deafFor == nil }

    mutating func set(_ state: RadioState) {
        self.state = state
        switch state {
        case .poweredOn: (deafFor, isLasting, isHopeless) = (nil, false, false)
        case .poweredOff: (deafFor, isLasting, isHopeless) = (deafFor ?? 0, true, false)
        case .unsupported, .unauthorized: (deafFor, isLasting, isHopeless) = (deafFor ?? 0, true, true)
        case .unknown, .resetting: deafFor = deafFor ?? 0
        }
    }

    mutating func pass(_ seconds: Double) {
        guard let deafFor else { return }
        self.deafFor = deafFor + seconds
        if deafFor + seconds >= Self.patience { isLasting = true }
    }
}

/// A region or a condition: the state that is known, the one that its clients know, and for how long somebody has
/// listened without hearing it.
struct OracleRegion {
    enum Change: Equatable {
        /// The state alone.
        case state(RegionState)
        case enter
        case exit
    }

    /// True where a region is entered that was unknown; on Apple's face its state alone becomes known.
    let entersFromUnknown: Bool
    var exitTimeout = 30.0

    private(set) var known = RegionState.unknown
    private(set) var published = RegionState.unknown
    /// True from when an outage lasted until the region is heard, or is not for long enough.
    private var isCompared = false
    private var silence = 0.0

    init(entersFromUnknown: Bool) { self.entersFromUnknown = entersFromUnknown }

    /// Somebody has listened for so long and heard nothing of the region.
    ///
    /// - Returns: what follows.
    mutating func listen(_ seconds: Double) -> Change? {
        silence += seconds
        guard silence >= exitTimeout else { return nil }
        if known == .outside, !isCompared { return nil }
        let isExit = known == .inside
        (known, published, isCompared) = (.outside, .outside, false)
        return isExit ? .exit : .state(.outside)
    }

    /// A beacon of the region is heard.
    mutating func hear() -> Change? {
        silence = 0
        defer { (known, published, isCompared) = (.inside, .inside, false) }
        switch known {
        case .inside: return isCompared ? .state(.inside) : nil
        case .outside: return .enter
        case .unknown: return entersFromUnknown ? .enter : .state(.inside)
        }
    }

    /// The outage is known to last.
    mutating func lose() -> Change? {
        guard known != .unknown else { return nil }
        isCompared = true
        defer { published = .unknown }
        return published == .unknown ? nil : .state(.unknown)
    }

    /// The radio hears again.
    mutating func resume() {
        // What is being compared has its whole time; what is known has the rest of it.
        if isCompared { silence = 0 }
    }
}

/// Every sequence of one to three states.
let sequencesOfStates: [[RadioState]] = {
    let one = RadioState.allCases.map { [$0] }
    let two = one.flatMap { start in RadioState.allCases.map { start + [$0] } }
    let three = two.flatMap { start in RadioState.allCases.map { start + [$0] } }
    return one + two + three
}()
