public import BeaconModel
public import BeaconRadio
import BeaconSupport

/// A source of adverts that plays a scenario in virtual time, as fast as its reader pulls.
///
/// Each transmission is a record, whether anybody hears it or not; each receiver that hears it gets one advert. Where
/// nothing is sent for a second there is a record without adverts, so that time passes in silence as well, and the last
/// record is the end of the scenario. The same scenario with the same seed gives the same adverts, bit for bit.
public struct ScenarioSource: Sendable {
    /// The start of every simulation: 1 700 000 000 seconds after 1970, in November 2023.
    public static let start = Timestamp(nanoseconds: 1_700_000_000 * Timestamp.nanosecondsPerSecond)

    /// The scenario's receivers, from the start.
    public let receiverNames: [String]

    /// Transmissions as packets, and what receivers heard of them as reports.
    public private(set) var counts = SourceCounts()

    private let medium: Medium
    private var broadcast: Broadcast

    /// The time of the last record, in nanoseconds after the start of the scenario, and that of its end.
    private var time: Int64 = 0
    private let end: Int64

    /// The scenario as it begins, where it begins again at its end, and the time at which it began last.
    private let beginning: Broadcast?
    private var began = Self.start

    private var isOver = false

    /// Creates the air of a scenario, before anything was sent.
    ///
    /// - Parameter isRepeated: whether the scenario begins again at its end, without end. Time goes on.
    public init(_ scenario: Scenario, isRepeated: Bool = false) {
        medium = Medium(environment: scenario.environment, walls: scenario.walls)
        receiverNames = scenario.receivers.map(\.name)
        end = Int64((scenario.duration * 1_000_000_000).rounded())
        broadcast = Broadcast(scenario, receivers: scenario.receivers)
        beginning = isRepeated ? broadcast : nil
    }

    /// Plays on to the next record and hands each advert that is heard in it to `deliver`, in the order of receivers.
    ///
    /// - Returns: the record, or nil at the end.
    /// - Throws: what `deliver` throws, and nothing else. After that there is nothing more to read.
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
        let moment = began.advanced(by: time)
        counts.packets += 1
        do {
            try broadcast.transmit(through: medium) { heard, advert in
                counts.reports += 1
                try deliver(
                    Reception(time: moment, receiver: ReceiverID(UInt16(heard.receiver)), report: heard.report), advert)
            }
        } catch {
            isOver = true
            throw error
        }
        return SourceRecord(time: moment)
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
