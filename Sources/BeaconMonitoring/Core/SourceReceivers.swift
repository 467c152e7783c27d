package import BeaconModel
package import BeaconRadio

/// The receivers of one source in a core: their names, their hearing, and expected receivers that have not appeared
/// yet.
///
/// Each user of a core has one value of this type per source. Only the core decides what silence means.
package struct SourceReceivers: Sendable {
    /// The appearance of a receiver in its source's table of names.
    package struct Arrival: Sendable {
        /// How a receiver appears.
        package enum Kind: Hashable, Sendable {
            /// At a new index.
            case added
            /// In place of the stand-in that the source had before it named any receiver.
            case named
            /// At the index of a removed receiver, which had this number.
            case replaced(ReceiverID)
        }

        /// The receiver's number in the core.
        package var receiver: ReceiverID
        /// Its index among the receivers of the source.
        package var place: Int
        /// How it appeared.
        package var kind: Kind
    }

    /// The numbers of the receivers in the core, by index.
    package private(set) var receivers: [ReceiverID]
    /// The names of the receivers, by index.
    package private(set) var names: [String] = []
    /// The newest name at each index, including indices that the source does not name at present.
    private var newestNames: [String] = []
    /// True if the source was opened again, so that its next names may have another order.
    package private(set) var isRestarted = false
    /// The number of leading names that cannot change, because the source only adds names.
    private var settled = 0
    /// True for each receiver that counts, by index.
    private var areCounted: [Bool] = []
    /// The only receiver that counts; nil for all.
    private let only: String?
    /// Receivers that kept a region in an earlier run and have not appeared yet.
    private var keepers: [String: Keeper] = [:]

    private struct Keeper {
        var receiver: ReceiverID
        /// The time until which its silence proves nothing; nil until it appears.
        var until: Timestamp?
    }

    /// Creates the receivers of a source that has not named any.
    ///
    /// - Parameters:
    ///   - standIn: a receiver that represents the source until then; nil for none.
    ///   - only: the only receiver that counts; nil for all.
    package init(standIn: ReceiverID? = nil, only: String? = nil) {
        receivers = standIn.map { [$0] } ?? []
        self.only = only
    }

    // MARK: - Names

    /// Returns a receiver that kept a region in an earlier run, even if it has not appeared yet.
    package func keeper(named name: String) -> ReceiverID? {
        names.firstIndex(of: name).map { receivers[$0] } ?? keepers[name]?.receiver
    }

    /// Expects a receiver that kept a region in an earlier run. Until it appears, its silence proves nothing.
    ///
    /// - Parameters:
    ///   - keeper: its number in the core.
    ///   - name: its name.
    ///   - until: the time at which it counts as lost; nil for never.
    package mutating func expect(_ keeper: ReceiverID, named name: String, until: Timestamp? = nil) {
        keepers[name] = Keeper(receiver: keeper, until: until)
    }

    /// Returns the expected receivers that did not appear in time, each once.
    package mutating func takeOverdue(at time: Timestamp) -> [ReceiverID] {
        keepers.filter { $0.value.until.map { $0 <= time } ?? false }.map { name, keeper in
            keepers[name]?.until = nil
            return keeper.receiver
        }
    }

    /// The expected receivers.
    package var expected: [ReceiverID] { keepers.values.map(\.receiver) }

    /// Stops expecting receivers.
    package mutating func expectNone() { keepers = [:] }

    /// Expects all receivers again, in any order, since their source was opened again.
    package mutating func restart() {
        isRestarted = true
        reopen()
    }

    /// Compares all names with the next ones, since their source was opened again.
    package mutating func reopen() { settled = 0 }

    /// Gives receivers other names, by the former ones. Call it before their source is opened again.
    package mutating func rename(_ new: [String: String]) {
        names = names.map { new[$0] ?? $0 }
        newestNames = newestNames.map { new[$0] ?? $0 }
        keepers = Dictionary(keepers.map { (new[$0] ?? $0, $1) }) { first, _ in first }
    }

    /// Forgets the order of the receivers, and expects them by name.
    private mutating func forgetPlaces() {
        for (place, name) in newestNames.enumerated() where areCounted[place] {
            keepers[name] = Keeper(receiver: receivers[place])
        }
        (names, newestNames, areCounted, receivers) = ([], [], [], [])
    }

    /// Updates the receivers to those that a source names. A receiver that replaces another at its index starts without
    /// state.
    ///
    /// - Parameters:
    ///   - new: the names, by index.
    ///   - core: the core.
    ///   - isGrowing: true for a recording, which only adds names, so that only the new ones are compared.
    ///   - title: returns the name of a receiver for events.
    ///   - make: returns a number in the core for a receiver with this name.
    /// - Returns: the receivers that appeared and count.
    package mutating func meet(
        _ new: [String], in core: inout MonitoringCore, isGrowing: Bool = false,
        title: (String) -> String = { $0 }, make: (_ name: String, _ place: Int) -> ReceiverID
    ) -> [Arrival] {
        guard settled > 0 ? new.count > settled : new != names else {
            isRestarted = false
            return []
        }
        if isRestarted, !newestNames.isEmpty { forgetPlaces() }
        isRestarted = false
        var arrivals: [Arrival] = []
        names.removeSubrange(min(settled, names.count)...)
        names.append(contentsOf: new[settled...])
        for place in settled..<new.count {
            let (name, isKnown) = (new[place], place < newestNames.count)
            guard !isKnown || newestNames[place] != name else { continue }
            if isKnown { newestNames[place] = name } else { newestNames.append(name) }
            let isCounted = only == nil || only == name
            let wasCounted = isKnown && areCounted[place]
            // A source that was opened again may have named more receivers before.
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
        settled = isGrowing ? new.count : 0
        return arrivals
    }

    // MARK: - Hearing

    /// The receivers that count.
    package var counted: [ReceiverID] { receivers.indices.filter(isCounted).map { receivers[$0] } }

    /// Returns the receivers that a deafness of the source affects: the receiver at an index, or all.
    package func receivers(at place: ReceiverID?) -> [ReceiverID] {
        guard let place else { return counted }
        return isCounted(Int(place.index)) ? [receivers[Int(place.index)]] : []
    }

    /// Returns the status of each receiver that counts.
    ///
    /// - Parameters:
    ///   - statuses: the statuses, by index.
    ///   - state: the state of receivers without a status; nil to leave them out.
    package func statuses(
        _ statuses: [ReceiverStatus], otherwise state: RadioState? = nil
    ) -> [(receiver: ReceiverID, status: ReceiverStatus)] {
        if statuses.isEmpty, state == nil { return [] }
        return receivers.indices.filter(isCounted).compactMap { place in
            let status = place < statuses.count ? statuses[place] : state.map { ReceiverStatus($0) }
            return status.map { (receivers[place], $0) }
        }
    }

    /// Returns a sighting with its receiver's number in the core; nil if the receiver is unknown or does not count.
    @inline(__always)
    package func sighting(_ sighting: Sighting) -> Sighting? {
        guard isCounted(Int(sighting.receiver.index)) else { return nil }
        var sighting = sighting
        sighting.receiver = receivers[Int(sighting.receiver.index)]
        return sighting
    }

    @inline(__always)
    private func isCounted(_ place: Int) -> Bool {
        // A stand-in counts as well.
        place < areCounted.count ? areCounted[place] : place < receivers.count
    }

    /// Returns the common status of several receivers that appear as one to a user. It hears while all of them do,
    /// since any of them may have kept a region.
    package static func common(_ statuses: some Sequence<ReceiverStatus>) -> ReceiverStatus {
        var common = ReceiverStatus(.poweredOn, heardUntil: .latest)
        for status in statuses {
            switch status.hearing {
            case .interrupted, .lost: return ReceiverStatus(.resetting)
            case .doubtful: (common.isDoubtful, common.heardUntil) = (true, min(common.heardUntil, status.heardUntil))
            case .hearing: break
            }
        }
        return common
    }
}
