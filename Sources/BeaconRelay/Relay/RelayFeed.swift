import BeaconModel
package import BeaconRadio
import BeaconReceivers
import BeaconSupport

/// The adverts of a source on their way to a relay's queue. It is used on the thread that polls the source.
package struct RelayFeed {
    /// The longest name of a receiver in bytes.
    private static let longestName = 64

    private let queue: RelayQueue
    private let constraints: [BeaconConstraint]
    private let isLive: Bool
    private let hasOneReceiver: Bool
    private var writer: RelayWriter
    private var last: SourceBatch?

    init(
        queue: RelayQueue, session: UInt32, constraints: [BeaconConstraint], isLive: Bool, hasOneReceiver: Bool
    ) {
        self.queue = queue
        self.constraints = constraints
        self.isLive = isLive
        self.hasOneReceiver = hasOneReceiver
        writer = RelayWriter(session: session)
    }

    /// The longest interval between calls of ``relay(_:shouldStop:)``, in nanoseconds.
    package static var interval: Int64 { RelayWriter.longestStretch }

    /// Notes the deaf periods of the source.
    package mutating func note(_ event: SourceEvent) {
        guard case .deaf(let from, let to, let receiver) = event else { return }
        writer.noteDeafness(.init(from: from, to: to, receiver: receiver.map { Int($0.index) }))
    }

    /// Adds adverts, and queues the message that is due.
    package mutating func relay(_ step: SourceBatch, shouldStop: () -> Bool) {
        // Readers have no places for more receivers than this.
        for sighting in step.sightings
        where sighting.receiver.index < RelayMessage.maximumReceivers && isWanted(sighting.identity) {
            writer.hear(sighting)
        }
        last = step
        if let time = step.time, writer.advance(to: time) { send(step, shouldStop: shouldStop) }
    }

    /// Queues the remaining adverts at the end of the source.
    package mutating func finish(shouldStop: () -> Bool) {
        if let last { send(last, shouldStop: shouldStop) }
    }

    private func isWanted(_ identity: BeaconIdentity) -> Bool {
        constraints.isEmpty || constraints.contains { $0.matches(identity) }
    }

    private mutating func send(_ step: SourceBatch, shouldStop: () -> Bool) {
        guard let time = step.time, let message = writer.message(at: time, of: receivers(of: step)) else { return }
        if !isLive { queue.waitForRoom(shouldStop: shouldStop) }
        queue.add(RelayQueue.Item(payload: message.encoded(), adverts: message.sightings.count))
    }

    private func receivers(of step: SourceBatch) -> [RelayMessage.Receiver] {
        var names: Set<String> = []
        return step.receiverNames.prefix(RelayMessage.maximumReceivers).enumerated().map { index, name in
            // Within the limit of the readers, and unique.
            var name = hasOneReceiver && step.receiverNames.count == 1 ? "" : name.prefix(bytes: Self.longestName)
            if !names.insert(name).inserted { name = "\(name.prefix(bytes: Self.longestName - 6)) \(index + 1)" }
            names.insert(name)
            return RelayMessage.Receiver(
                name: name,
                status: index < step.receiverStatuses.count
                    ? step.receiverStatuses[index] : ReceiverStatus(.poweredOn))
        }
    }
}
