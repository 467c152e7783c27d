import Foundation

/// What is kept of a monitor across launches.
struct StoredMonitor: Codable, Sendable {
    var conditions: [Condition]

    /// A condition with its events. Exactly one of the two kinds is there.
    struct Condition: Codable, Sendable {
        var identifier: String
        var beacon: CLMonitor.BeaconIdentityCondition?
        var disc: CLMonitor.CircularGeographicCondition?
        var lastEvent: Event
        /// The newest event, where it has not been dealt with.
        var pending: Event?

        /// What there is to keep; nil for conditions that nobody could make again from what is written.
        init?(
            _ identifier: String, _ condition: any CLCondition, dealtWith: CLMonitor.Event, pending: CLMonitor.Event?
        ) {
            beacon = condition as? CLMonitor.BeaconIdentityCondition
            disc = condition as? CLMonitor.CircularGeographicCondition
            if beacon == nil, disc == nil { return nil }
            self.identifier = identifier
            lastEvent = Event(dealtWith)
            self.pending = pending.map(Event.init)
        }

        var condition: (any CLCondition)? { beacon ?? disc }
    }

    /// An event without the identifier.
    struct Event: Codable, Sendable {
        var state: UInt
        /// Seconds since 1970.
        var time: Double
        var refinement: CLMonitor.BeaconIdentityCondition?
        var diagnostics: UInt16

        init(_ event: CLMonitor.Event) {
            state = event.state.rawValue
            time = event.date.timeIntervalSince1970
            refinement = event.refinement as? CLMonitor.BeaconIdentityCondition
            diagnostics = event.diagnostics.rawValue
        }

        func event(_ identifier: String) -> CLMonitor.Event {
            CLMonitor.Event(
                identifier: identifier, state: CLMonitor.Event.State(rawValue: state) ?? .unknown,
                date: Date(timeIntervalSince1970: time), refinement: refinement,
                diagnostics: CLMonitor.Diagnostics(rawValue: diagnostics))
        }
    }

    init(conditions: [Condition]) { self.conditions = conditions }

    /// Reads what ``data()`` wrote.
    init(_ data: Data) throws {
        let decoder = JSONDecoder()
        decoder.nonConformingFloatDecodingStrategy = .convertFromString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        self = try decoder.decode(StoredMonitor.self, from: data)
    }

    /// The bytes to write.
    func data() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        // A coordinate may be anything that fits a number, and should not keep the rest from being written.
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        return try encoder.encode(self)
    }
}
