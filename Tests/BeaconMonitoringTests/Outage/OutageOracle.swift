import BeaconModel
import BeaconRadio

/// The rules for outages again, in their simplest form, in steps of time without changes.

/// A radio that passes through states: how long it has been deaf, and whether the deafness lasts.
struct OracleRadio {
    /// How long a radio may be away before clients are notified.
    static let patience = 5.0

    private(set) var state = RadioState.unknown
    /// The duration of its deafness; nil while it hears.
    private(set) var deafFor: Double? = 0
    /// True if clients that wait for the radio know of the outage.
    private(set) var isLasting = false
    /// True if no region can be monitored.
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

/// A region or a condition: the known state, the published state, and how long the radio has listened without hearing
/// it.
struct OracleRegion {
    enum Change: Equatable {
        /// Only the state.
        case state(RegionState)
        case enter
        case exit
    }

    /// True if an unknown region can be entered. In Apple's API, only its state becomes known.
    let entersFromUnknown: Bool
    var exitTimeout = 30.0

    private(set) var known = RegionState.unknown
    private(set) var published = RegionState.unknown
    /// True from a lasting outage until the region is heard, or is silent for long enough.
    private var isCompared = false
    private var silence = 0.0

    init(entersFromUnknown: Bool) { self.entersFromUnknown = entersFromUnknown }

    /// Records time in which the radio heard nothing of the region.
    ///
    /// - Returns: the resulting change.
    mutating func listen(_ seconds: Double) -> Change? {
        silence += seconds
        guard silence >= exitTimeout else { return nil }
        if known == .outside, !isCompared { return nil }
        let isExit = known == .inside
        (known, published, isCompared) = (.outside, .outside, false)
        return isExit ? .exit : .state(.outside)
    }

    /// Records that a beacon of the region is heard.
    mutating func hear() -> Change? {
        silence = 0
        defer { (known, published, isCompared) = (.inside, .inside, false) }
        switch known {
        case .inside: return isCompared ? .state(.inside) : nil
        case .outside: return .enter
        case .unknown: return entersFromUnknown ? .enter : .state(.inside)
        }
    }

    /// Records that the outage lasts.
    mutating func lose() -> Change? {
        guard known != .unknown else { return nil }
        isCompared = true
        defer { published = .unknown }
        return published == .unknown ? nil : .state(.unknown)
    }

    /// Records that the radio hears again.
    mutating func resume() {
        // A compared region has its full time, a known one the rest of it.
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
