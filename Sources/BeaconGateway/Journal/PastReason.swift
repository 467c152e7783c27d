import BeaconEngine
package import BeaconModel
import BeaconMonitoring
package import BeaconSupport

/// The reason why a beacon was where it was at a moment of the past.
package struct PastReason: Encodable, Sendable {
    /// A place that heard the beacon.
    package struct Place: Encodable, Sendable {
        package var place: String
        @Nullable package var receiver: String?
        /// The smoothed level at its loudest receiver, and how much it rose within a quarter of a minute, in dB.
        package var level: Double
        package var rise: Double
    }

    /// The costs of a taught place.
    package struct Cost: Encodable, Sendable {
        /// The place; null for levels unlike all taught ones.
        @Nullable package var place: String?
        /// The cost of the second, the sum of costs above that of the likeliest place, and the lead in dB over the
        /// beacon's place that follows from the second.
        package var cost: Double
        package var behind: Double
        @Nullable package var lead: Double?
    }

    /// The advert after which the place was decided.
    package struct Advert: Encodable, Sendable {
        package var time: Double
        package var receiver: String
        package var rssi: Int
    }

    /// A setting with which the beacon would have been elsewhere.
    package struct Setting: Encodable, Sendable {
        /// The setting, as `beacond replay --with` accepts it.
        package var with: String
        @Nullable package var place: String?
    }

    package var time: Double
    /// Where the beacon was; null outside all places, and while that is unknown.
    @Nullable package var place: String?
    package var state: String
    /// When it was placed there; null if that was before the journal.
    @Nullable package var since: Double?
    /// The last advert before that.
    @Nullable package var tippedBy: Advert?
    package var heard: [Place]
    /// The receivers that did not hear.
    package var deaf: [String] = []
    /// What taught places cost, the likeliest first; empty without taught places.
    package var costs: [Cost] = []
    /// The share of the sum of leads that moves it, from 0 to 1, and what counts: the lead in dB that does not, and the
    /// sum in dB times seconds.
    package var lead: Double
    package var slack: Double
    package var neededLead: Double
    /// The seconds without an advert, and those after which it is in no place.
    package var silence: Int
    package var patience: Int
    /// The nearest settings that would have decided otherwise.
    package var otherwise: [Setting]
}

extension Replay {
    /// The margins and hold times that are tried, nearest to the usual ones first.
    private static let margins = [4, 8, 2, 10, 0, 15, 20, 30]
    private static let holdTimes = [15, 30, 10, 45, 5, 60, 2, 120]

    /// Returns the reason why a beacon was where it was.
    ///
    /// It plays the time before with other margins and hold times, until one puts the beacon elsewhere at that moment.
    /// These trials begin at the last checkpoint from which the beacon is placed as it was.
    ///
    /// - Throws: ``Failure``, or `CancellationError`.
    package func reason(for beacon: BeaconIdentity, at time: Double) throws -> PastReason {
        let stretch = Stretch(from: max(0, time - 1), to: time)
        var reason = PastReason(
            time: time, state: "\(RegionState.unknown)", heard: [], lead: 0, slack: 0, neededLead: 0, silence: 0,
            patience: 0, otherwise: [])
        var last: PastReason.Advert?
        let segments = try segments(for: stretch)
        _ = try play(stretch, on: Tape(segments, isKept: false)) { event, _ in
            guard case .placed(let change) = event, change.identity == beacon, change.time.seconds <= time else {
                return
            }
            (reason.place, reason.state, reason.since) = (change.place, "\(change.state)", change.time.seconds)
            reason.tippedBy = last
        } hearing: { piece, player in
            if case .traffic(.advert(let sighting)) = piece, sighting.identity == beacon, let dBm = sighting.rssi.dBm {
                let wall = player.core.wallTime(of: sighting).seconds
                guard wall <= time else { return }
                last = .init(time: wall, receiver: player.title(of: sighting.receiver), rssi: Int(dBm))
            }
            // The explanation of each moment would take longer than the playback.
            guard case .traffic = piece, player.core.wallTime <= time,
                player.core.wallTime >= time - Replay.warmUp,
                let now = player.core.placeExplanation(of: beacon)
            else { return }
            reason.heard = now.places.map { one in
                PastReason.Place(
                    place: player.core.placeNames[one.place], receiver: one.receiver.map { player.title(of: $0) },
                    level: Self.rounded(one.level), rise: Self.rounded(one.rise))
            }
            reason.deaf = player.core.deafReceivers.map { player.title(of: $0) }.sorted()
            reason.costs = now.costs.map { one in
                PastReason.Cost(
                    place: one.place.map { player.core.placeNames[$0] }, cost: (one.cost * 100).rounded() / 100,
                    behind: (one.behind * 100).rounded() / 100, lead: one.lead.map(Self.rounded))
            }
            (reason.lead, reason.slack, reason.neededLead) = (
                (now.lead * 100).rounded() / 100, Self.rounded(now.slack), Self.rounded(now.neededLead)
            )
            (reason.silence, reason.patience) = (now.silence, now.patience)
        }
        let tape = try tape(of: segments, for: beacon, reason)
        for (key, unit, values) in [("margin", "", Self.margins), ("hold-time", "s", Self.holdTimes)] {
            for value in values {
                let with = "place-rules.\(key)=\(value)\(unit)"
                guard let place = try place(of: beacon, at: time, on: tape, with: [with]), place != (reason.place ?? "")
                else { continue }
                reason.otherwise.append(.init(with: with, place: place.isEmpty ? nil : place))
                break
            }
        }
        return reason
    }

    /// Returns the segments for trials: from the last checkpoint well before the beacon was placed, if a playback from
    /// there gives its place, and otherwise all.
    private func tape(of segments: [Segment], for beacon: BeaconIdentity, _ reason: PastReason) throws -> Tape {
        if let since = reason.since,
            let start = segments.lastIndex(where: { $0.begin <= since - Self.warmUp }), start > 0
        {
            let tape = Tape(segments[start...])
            let place = try place(of: beacon, at: reason.time, on: tape, with: [])
            if place == (reason.state == "\(RegionState.unknown)" ? nil : reason.place ?? "") { return tape }
        }
        return Tape(segments)
    }

    /// Returns the place of a beacon at a moment with changed settings; empty for none, and nil if it is unknown.
    private func place(
        of beacon: BeaconIdentity, at time: Double, on tape: Tape, with changes: [String]
    ) throws -> String? {
        var found: String?
        let replay = Replay(folder: folder, changes: try ReplayChanges(changes))
        _ = try replay.play(Stretch(from: max(0, time - 1), to: time), on: tape) { event, _ in
            guard case .placed(let change) = event, change.identity == beacon, change.time.seconds <= time else {
                return
            }
            found = change.state == .unknown ? nil : change.place ?? ""
        }
        return found
    }

    private static func rounded(_ number: Double) -> Double { (number * 10).rounded() / 10 }
}
