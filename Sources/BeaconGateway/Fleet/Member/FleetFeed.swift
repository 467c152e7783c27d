import BeaconFleet
import BeaconModel
import BeaconMonitoring
import BeaconRadio
import BeaconReceivers
import BeaconSupport

/// What one source of a machine hears on its way to the workers of a fleet: for each partition what is of it, and to
/// all of them whether the source hears.
struct FleetFeed {
    /// The time, in nanoseconds, after which a partition is told that there was nothing of it: as often as a worker has
    /// to know that the receiver lives, and four times as seldom as adverts are sent.
    private static let quietInterval = Timestamp.nanosecondsPerSecond

    /// The longest name of a receiver in bytes, as long as those who listen take.
    private static let longestName = 64

    /// The name that the source has in the fleet.
    let relay: FleetRelay
    /// True where the source has one receiver for ever, which is then called as the relay is.
    private let hasOneReceiver: Bool
    private let session = UInt32.random(in: .min ... .max)
    private var partitions: FleetPartitions
    private var writers: [RelayWriter]
    private var heard: [Bool]
    private var sent: [Timestamp?]
    private var names: [String] = []
    private var statuses: [ReceiverStatus] = []

    /// A feed that has heard nothing.
    init(relay: FleetRelay, hasOneReceiver: Bool, partitions: FleetPartitions) {
        self.relay = relay
        self.hasOneReceiver = hasOneReceiver
        self.partitions = partitions
        writers = []
        (heard, sent) = ([], [])
        setPartitions(partitions)
    }

    /// Divides what is heard in another way from now on.
    mutating func setPartitions(_ new: FleetPartitions) {
        partitions = new
        // What was heard and not sent stays with the partition that it was of.
        while writers.count < new.count {
            writers.append(RelayWriter(session: session))
            heard.append(false)
            sent.append(nil)
        }
    }

    /// Notes a stretch in which nothing could be heard.
    mutating func noteDeafness(from: Timestamp, to: Timestamp, of receiver: ReceiverID?) {
        for index in writers.indices {
            writers[index].noteDeafness(.init(from: from, to: to, receiver: receiver.map { Int($0.index) }))
        }
    }

    /// Takes in what a source heard, with times of its own.
    ///
    /// - Parameters:
    ///   - batch: the adverts, and the names and states of the receivers.
    ///   - state: the state of the source as a whole, which counts where it does not hear, and for receivers without a
    ///     state.
    ///   - send: sends a message to a partition. One that cannot be sent is lost, and the next shows what was in it as
    ///     deafness.
    mutating func hear(_ batch: SourceBatch, state: RadioState, send: (_ message: [UInt8], _ partition: Int) -> Void) {
        if !batch.receiverNames.isEmpty { names = batch.receiverNames }
        if !batch.receiverStatuses.isEmpty { statuses = batch.receiverStatuses }
        for sighting in batch.sightings where sighting.receiver.index < RelayMessage.mostReceivers {
            guard let partition = partitions.partition(of: sighting.identity) else { continue }
            writers[partition].hear(sighting)
            heard[partition] = true
        }
        guard let time = batch.time, !names.isEmpty else { return }
        let receivers = receivers(state: state)
        for index in writers.indices {
            guard writers[index].advance(to: time) else { continue }
            let isDue = heard[index] || sent[index].map { time.since($0) >= Self.quietInterval } ?? true
            guard isDue, let message = writers[index].message(at: time, of: receivers) else { continue }
            (heard[index], sent[index]) = (false, time)
            send(message.encoded(), index)
        }
    }

    /// The receivers as workers know them, and whether each hears.
    func receivers(state: RadioState) -> [RelayMessage.Receiver] {
        var taken: Set<String> = []
        return names.prefix(RelayMessage.mostReceivers).enumerated().map { index, name in
            var name = hasOneReceiver && names.count == 1 ? "" : name.prefix(bytes: Self.longestName)
            // No two of a relay are the same.
            if !taken.insert(name).inserted { name = "\(name.prefix(bytes: Self.longestName - 6)) \(index + 1)" }
            taken.insert(name)
            let own = index < statuses.count ? statuses[index] : ReceiverStatus(state)
            return .init(name: name, status: state == .poweredOn ? own : ReceiverStatus(state))
        }
    }
}
