public import BeaconModel
public import BeaconRadio
import BeaconSupport

/// A source of adverts that plays a scenario in virtual time, as fast as its reader pulls.
///
/// Each transmission is a record, even if no receiver hears it. Each receiver that hears it gets one advert. If nothing
/// is sent for a second, there is a record without adverts, so that time passes in silence too. The last record is the
/// end of the scenario. The same scenario with the same seed gives the same adverts, bit for bit.
public struct ScenarioSource: Sendable {
    /// The start of every simulation: 1 700 000 000 seconds after 1970, in November 2023.
    public static let start = Timestamp(nanoseconds: 1_700_000_000 * Timestamp.nanosecondsPerSecond)

    /// The scenario's receivers.
    public let receiverNames: [String]

    /// Transmissions count as packets, and received adverts as reports.
    public private(set) var counts = SourceCounts()

    private let medium: Medium
    private var broadcast: Broadcast

    /// The times of the last record and of the end, in nanoseconds after the start of the scenario.
    private var time: Int64 = 0
    private let end: Int64

    /// The initial state of a repeated scenario, and the time at which it last began.
    private let beginning: Broadcast?
    private var began = Self.start

    private var isOver = false

    /// Creates the air of a scenario, before the first transmission.
    ///
    /// - Parameter isRepeated: true to restart the scenario at its end, forever. Time continues.
    public init(_ scenario: Scenario, isRepeated: Bool = false) {
        medium = Medium(environment: scenario.environment, walls: scenario.walls)
        receiverNames = scenario.receivers.map(\.name)
        end = Int64((scenario.duration * 1_000_000_000).rounded())
        broadcast = Broadcast(scenario, receivers: scenario.receivers)
        beginning = isRepeated ? broadcast : nil
    }

    /// Plays up to the next record and calls `deliver` for each advert that is heard in it, in the order of receivers.
    ///
    /// - Returns: the record, or nil at the end.
    /// - Throws: only the errors of `deliver`. After an error, the source is at its end.
    public mutating func next(_ deliver: (Reception, RawSpan) throws -> Void) throws -> SourceRecord? {
        guard !isOver else { return nil }
        let silence = min(time + Timestamp.nanosecondsPerSecond, end)
        guard let next = broadcast.nextTime, next <= silence, next < end else {
            let record = SourceRecord(time: began.advanced(by: silence))
            time = silence
            if silence == end { finish() }
            return record
        }
        time = next
        let timestamp = began.advanced(by: time)
        counts.packets += 1
        do {
            try broadcast.transmit(through: medium) { heard, advert in
                counts.reports += 1
                try deliver(
                    Reception(time: timestamp, receiver: ReceiverID(UInt16(heard.receiver)), report: heard.report),
                    advert)
            }
        } catch {
            isOver = true
            throw error
        }
        return SourceRecord(time: timestamp)
    }

    private mutating func finish() {
        guard let beginning else {
            isOver = true
            return
        }
        broadcast = beginning
        began = began.advanced(by: end)
        time = 0
    }
}
