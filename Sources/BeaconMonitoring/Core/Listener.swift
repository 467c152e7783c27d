package import BeaconModel
package import BeaconRadio

/// The receivers of one source among those of a core: their names, their hearing, and keepers that have not come yet.
///
/// Each user of a core has one for each of its sources. What silence means is decided by the core alone.
package struct Listener: Sendable {
    /// The arrival of a receiver at a place of its source's table of names.
    package struct Arrival: Sendable {
        /// The way in which a receiver comes.
        package enum Kind: Hashable, Sendable {
            /// At a new place.
            case added
            /// As the one for which another stood before the source named any.
            case named
            /// At the place of one that is gone, which had this number.
            case replaced(ReceiverID)
        }

        /// The receiver's number in the core.
        package var receiver: ReceiverID
        /// Its place among the receivers of the source.
        package var place: Int
        /// The way in which it came.
        package var kind: Kind
    }

    /// The numbers of the receivers in the core, by their places.
    package private(set) var receivers: [ReceiverID]
    /// The names of the receivers, by their places.
    package private(set) var names: [String] = []
    /// The newest name of each place, also of places that a source does not name now.
    private var newestNames: [String] = []
    /// True where the next names are those of a source that was opened again, which has its receivers in another order.
    private var isRestarted = false
    /// True for each receiver that counts, by its place.
    private var areCounted: [Bool] = []
    /// The one receiver that counts; nil for all.
    private let only: String?
    /// Receivers that kept a region before, and have not come yet.
    private var keepers: [String: Keeper] = [:]

    private struct Keeper {
        var receiver: ReceiverID
        /// Until when its silence says nothing; nil for as long as it does not come.
        var until: Timestamp?
    }

    /// The receivers of a source that has named none.
    ///
    /// - Parameters:
    ///   - standIn: a receiver that stands for the source until then; nil for none.
    ///   - only: the one receiver that counts; nil for all.
    package init(standIn: ReceiverID? = nil, only: String? = nil) {
        receivers = standIn.map { [$0] } ?? []
        self.only = only
    }

    // MARK: - Names

    /// Returns a receiver that kept a region before, which may not have come yet.
    package func keeper(named name: String) -> ReceiverID? {
        names.firstIndex(of: name).map { receivers[$0] } ?? keepers[name]?.receiver
    }

    /// Expects a receiver that kept a region before. Until it comes, its silence says nothing.
    ///
    /// - Parameters:
    ///   - keeper: its number in the core.
    ///   - name: its name.
    ///   - until: when it counts as lost; nil for never.
    package mutating func expect(_ keeper: ReceiverID, named name: String, until: Timestamp? = nil) {
        keepers[name] = Keeper(receiver: keeper, until: until)
    }

    /// Returns the expected receivers that have not come in time, each once.
    package mutating func takeOverdue(at time: Timestamp) -> [ReceiverID] {
        keepers.filter { $0.value.until.map { $0 <= time } ?? false }.map { name, keeper in
            keepers[name]?.until = nil
            return keeper.receiver
        }
    }

    /// The receivers that are expected.
    package var expected: [ReceiverID] { keepers.values.map(\.receiver) }

    /// Expects no receiver any longer.
    package mutating func expectNone() { keepers = [:] }

    /// Expects all receivers again, at whatever places, since their source was opened again.
    package mutating func restart() { isRestarted = true }

    /// Goes on with the receivers by their names alone.
    private mutating func forgetPlaces() {
        for (place, name) in newestNames.enumerated() where areCounted[place] {
            keepers[name] = Keeper(receiver: receivers[place])
        }
        (names, newestNames, areCounted, receivers) = ([], [], [], [])
    }

    /// Meets the receivers that a source names. One that comes to the place of another begins with nothing.
    ///
    /// - Parameters:
    ///   - new: the names, by place.
    ///   - core: the core.
    ///   - title: returns the name of a receiver in events.
    ///   - make: returns a number in the core for a receiver of this name.
    /// - Returns: the receivers that have come and count.
    package mutating func meet(
        _ new: [String], in core: inout MonitoringCore, title: (String) -> String = { $0 },
        make: (_ name: String, _ place: Int) -> ReceiverID
    ) -> [Arrival] {
        guard new != names else {
            isRestarted = false
            return []
        }
        if isRestarted, !newestNames.isEmpty { forgetPlaces() }
        isRestarted = false
        var arrivals: [Arrival] = []
        for (place, name) in new.enumerated() {
            let isKnown = place < newestNames.count
            guard !isKnown || newestNames[place] != name else { continue }
            let isCounted = only == nil || only == name
            let wasCounted = isKnown && areCounted[place]
            // A source that was opened again may have named more before.
            if place < areCounted.count { areCounted[place] = isCounted } else { areCounted.append(isCounted) }
            let keeper = isCounted ? keepers.removeValue(forKey: name)?.receiver : nil
            var kind = Arrival.Kind.added
            if place == receivers.count {
                receivers.append(keeper ?? make(name, place))
            } else {
                let former = receivers[place]
                kind = isKnown ? .replaced(former) : .named
                if let keeper {
                    if wasCounted { core.retire(former) }
                    receivers[place] = keeper
                } else if wasCounted {
                    core.reassign(former, to: title(name))
                    if !isCounted { core.setHearing(.lost, of: former) }
                }
            }
            guard isCounted else { continue }
            core.name(receivers[place], title(name))
            arrivals.append(Arrival(receiver: receivers[place], place: place, kind: kind))
        }
        newestNames = new + newestNames.dropFirst(new.count)
        names = new
        return arrivals
    }

    // MARK: - Hearing

    /// The receivers that count.
    package var counted: [ReceiverID] { receivers.indices.filter(isCounted).map { receivers[$0] } }

    /// Returns the receivers that a deafness of the source concerns: one, by its place, or all.
    package func receivers(at place: ReceiverID?) -> [ReceiverID] {
        guard let place else { return counted }
        return isCounted(Int(place.index)) ? [receivers[Int(place.index)]] : []
    }

    /// Returns the status of each receiver that counts.
    ///
    /// - Parameters:
    ///   - statuses: the statuses, by place.
    ///   - state: the state of the others; nil to leave them out.
    package func statuses(
        _ statuses: [ReceiverStatus], otherwise state: RadioState? = nil
    ) -> [(receiver: ReceiverID, status: ReceiverStatus)] {
        receivers.indices.filter(isCounted).compactMap { place in
            let status = place < statuses.count ? statuses[place] : state.map { ReceiverStatus($0) }
            return status.map { (receivers[place], $0) }
        }
    }

    /// Returns a sighting by its receiver's number in the core; nil where the receiver is unknown or does not count.
    @inline(__always)
    package func sighting(_ sighting: Sighting) -> Sighting? {
        guard isCounted(Int(sighting.receiver.index)) else { return nil }
        var sighting = sighting
        sighting.receiver = receivers[Int(sighting.receiver.index)]
        return sighting
    }

    @inline(__always)
    private func isCounted(_ place: Int) -> Bool {
        // One that stands for the source counts as well.
        place < areCounted.count ? areCounted[place] : place < receivers.count
    }

    /// Returns the hearing of several receivers that are one for a user. It hears while all of them do, since any may
    /// have kept a region.
    package static func common(_ statuses: some Sequence<ReceiverStatus>) -> MonitoringCore.Hearing {
        var common = MonitoringCore.Hearing.hearing
        for status in statuses {
            switch status.hearing {
            case .interrupted, .lost: return .interrupted
            case .doubtful: common = .doubtful
            case .hearing: break
            }
        }
        return common
    }
}
