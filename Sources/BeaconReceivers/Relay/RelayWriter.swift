package import BeaconModel

/// The messages of a relay, as time passes: each has all that was heard since the one before.
package struct RelayWriter {
    /// The longest time of a message, in nanoseconds: short, so that who reads them is hardly behind, and whether the
    /// relay still hears is known at any time.
    package static let longestStretch = Timestamp.nanosecondsPerSecond / 4

    /// The most adverts of a message: some 15 kB.
    private static let mostAdverts = 2500

    private let session: UInt32
    private var begin: Timestamp?
    private var sightings: [Sighting] = []
    /// What could not be heard, in one stretch for each receiver, and for all.
    private var deafness: [Int?: RelayMessage.Deafness] = [:]

    /// A writer that has heard nothing.
    ///
    /// - Parameter session: a number that no other has had.
    package init(session: UInt32) { self.session = session }

    /// Adds an advert.
    package mutating func hear(_ sighting: Sighting) { sightings.append(sighting) }

    /// Adds a stretch in which nothing could be heard. What lies between two of them counts too: not to hear for too
    /// long is no harm.
    package mutating func noteDeafness(_ stretch: RelayMessage.Deafness) {
        var whole = deafness[stretch.receiver] ?? stretch
        whole.from = min(whole.from, stretch.from)
        whole.to = max(whole.to, stretch.to)
        deafness[stretch.receiver] = whole
    }

    /// Lets time pass, up to which everything that was heard has been added.
    ///
    /// - Returns: true where a message is due.
    package mutating func advance(to time: Timestamp) -> Bool {
        guard let begin else {
            // The first message says from when on.
            begin = time
            return false
        }
        return time.since(begin) >= Self.longestStretch || sightings.count >= Self.mostAdverts
    }

    /// Returns a message of what was heard since the one before; nil where no time has passed.
    ///
    /// - Parameters:
    ///   - time: the time up to which everything that was heard has been added.
    ///   - receivers: the receivers, in their present states.
    package mutating func message(at time: Timestamp, of receivers: [RelayMessage.Receiver]) -> RelayMessage? {
        guard let begin, time > begin || !sightings.isEmpty else { return nil }
        // Where time stands still, in a recording that was cut badly, messages still meet.
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
