package import BeaconModel

/// A writer of a relay's messages. Each message contains the adverts since the previous one.
package struct RelayWriter {
    /// The longest period of a message, in nanoseconds. It is short, so that readers are hardly behind and always know
    /// whether the relay hears.
    package static let longestStretch = Timestamp.nanosecondsPerSecond / 4

    /// The most adverts of a message: some 15 kB.
    private static let maximumAdverts = 2500

    private let session: UInt32
    private var begin: Timestamp?
    private var sightings: [Sighting] = []
    /// The deaf periods, one for each receiver and one for all.
    private var deafness: [Int?: RelayMessage.Deafness] = [:]

    /// Creates a writer without adverts.
    ///
    /// - Parameter session: a number that no other session has.
    package init(session: UInt32) { self.session = session }

    /// Adds an advert.
    package mutating func hear(_ sighting: Sighting) { sightings.append(sighting) }

    /// Adds a deaf period. The time between two of them counts as deaf, too: a deaf period that is too long does no
    /// harm.
    package mutating func noteDeafness(_ stretch: RelayMessage.Deafness) {
        var whole = deafness[stretch.receiver] ?? stretch
        whole.from = min(whole.from, stretch.from)
        whole.to = max(whole.to, stretch.to)
        deafness[stretch.receiver] = whole
    }

    /// Advances the clock. All adverts up to `time` have been added.
    ///
    /// - Returns: true if a message is due.
    package mutating func advance(to time: Timestamp) -> Bool {
        guard let begin else {
            // The first message starts here.
            begin = time
            return false
        }
        return time.since(begin) >= Self.longestStretch || sightings.count >= Self.maximumAdverts
    }

    /// Returns a message of the adverts since the previous one; nil if no time has passed.
    ///
    /// - Parameters:
    ///   - time: the time up to which all adverts have been added.
    ///   - receivers: the receivers, with their current states.
    package mutating func message(at time: Timestamp, of receivers: [RelayMessage.Receiver]) -> RelayMessage? {
        guard let begin, time > begin || !sightings.isEmpty else { return nil }
        // Keep messages adjacent even if time stands still, as in a badly cut recording.
        let time = max(time, begin.advanced(by: RelayMessage.microsecond))
        var message = RelayMessage(session: session, from: begin, to: time)
        message.receivers = receivers
        message.deafness = deafness.values.filter { ($0.receiver ?? 0) < receivers.count }
            .sorted { ($0.receiver ?? -1) < ($1.receiver ?? -1) }
        message.sightings = sightings
        self.begin = time
        sightings.removeAll(keepingCapacity: true)
        deafness = [:]
        return message
    }
}
