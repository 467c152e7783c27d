import BeaconRadio

/// What a source's radio tells of itself between two records, on the thread that pulls.
final class RadioEar {
    /// How far the clock on the wall is ahead of the radio's times, in nanoseconds.
    private(set) var wallAhead: Int64 = 0

    /// Why nothing can be heard; nil while the radio works.
    private(set) var outage: String?

    private var notices: [RadioNotice] = []

    /// Takes in what the radio tells.
    func hear(_ event: RadioEvent) {
        switch event {
        case .wallClock(let ahead): wallAhead = ahead
        case .state(let state): outage = Self.outage(state)
        case .notice(let notice): notices.append(notice)
        case .time, .sightings, .advertising: break
        }
    }

    /// What the radio noticed since this was asked last.
    func takeNotices() -> [RadioNotice] {
        guard !notices.isEmpty else { return [] }
        defer { notices = [] }
        return notices
    }

    private static func outage(_ state: RadioState) -> String? {
        switch state {
        case .unknown, .poweredOn: nil
        case .resetting: "the radio is being brought back"
        case .unsupported: "the radio is gone"
        case .unauthorized: "this process may no longer use the radio"
        case .poweredOff: "the radio is switched off"
        }
    }
}
