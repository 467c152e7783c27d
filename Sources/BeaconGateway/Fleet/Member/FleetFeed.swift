import BeaconFleet
import BeaconModel
import BeaconMonitoring
import BeaconRadio
import BeaconReceivers
import BeaconSupport

/// The adverts of one source on their way to a fleet's workers: each partition receives its own, and all of them learn
/// whether the source hears.
struct FleetFeed {
    /// The interval, in nanoseconds, at which a quiet partition gets a message. Workers need it to know that the
    /// receiver works. It is four times the interval at which adverts are sent.
    private static let quietInterval = Timestamp.nanosecondsPerSecond

    /// The longest receiver name in bytes; workers accept no more.
    private static let longestName = 64

    /// The source's name in the fleet.
    let relay: FleetRelay
    /// True if the source always has a single receiver, which then shares the relay's name.
    private let hasOneReceiver: Bool
    private let session = UInt32.random(in: .min ... .max)
    private var partitions: FleetPartitions
    private var writers: [RelayWriter]
    private var heard: [Bool]
    /// The time and the receivers of each partition's last message.
    private var sent: [(time: Timestamp, receivers: [RelayMessage.Receiver])?]
    private var names: [String] = []
    private var statuses: [ReceiverStatus] = []

    /// Creates a feed that has heard nothing.
    init(relay: FleetRelay, hasOneReceiver: Bool, partitions: FleetPartitions) {
        self.relay = relay
        self.hasOneReceiver = hasOneReceiver
        self.partitions = partitions
        writers = []
        (heard, sent) = ([], [])
        setPartitions(partitions)
    }

    /// Changes how beacons are divided among partitions.
    mutating func setPartitions(_ new: FleetPartitions) {
        partitions = new
        // Unsent adverts stay with the partition that they were sorted into.
        while writers.count < new.count {
            writers.append(RelayWriter(session: session))
            heard.append(false)
            sent.append(nil)
        }
    }

    /// Records a time span in which a receiver, or the whole source, could not hear.
    mutating func noteDeafness(from: Timestamp, to: Timestamp, of receiver: ReceiverID?) {
        for index in writers.indices {
            writers[index].noteDeafness(.init(from: from, to: to, receiver: receiver.map { Int($0.index) }))
        }
    }

    /// Adds the adverts of a source, which bring their own times, and sends messages that are due.
    ///
    /// - Parameters:
    ///   - batch: the adverts, and the names and states of the receivers.
    ///   - state: the state of the source as a whole. It counts while the source does not hear, and for receivers
    ///     without a state.
    ///   - send: sends a message to a partition. If that fails, the message is lost, and the next one reports its time
    ///     span as deafness.
    mutating func hear(_ batch: SourceBatch, state: RadioState, send: (_ message: [UInt8], _ partition: Int) -> Void) {
        if !batch.receiverNames.isEmpty { names = batch.receiverNames }
        if !batch.receiverStatuses.isEmpty { statuses = batch.receiverStatuses }
        for sighting in batch.sightings where sighting.receiver.index < RelayMessage.maximumReceivers {
            guard let partition = partitions.partition(of: sighting.identity) else { continue }
            writers[partition].hear(sighting)
            heard[partition] = true
        }
        guard let time = batch.time, !names.isEmpty else { return }
        let receivers = receivers(state: state)
        for index in writers.indices {
            guard writers[index].advance(to: time) else { continue }
            // A change of a receiver does not wait either: an exit may depend on it.
            let isDue =
                heard[index]
                || sent[index].map { time.since($0.time) >= Self.quietInterval || $0.receivers != receivers } ?? true
            guard isDue, let message = writers[index].message(at: time, of: receivers) else { continue }
            (heard[index], sent[index]) = (false, (time, receivers))
            send(message.encoded(), index)
        }
    }

    /// Returns the receivers as workers know them, and whether each hears.
    func receivers(state: RadioState) -> [RelayMessage.Receiver] {
        var taken: Set<String> = []
        return names.prefix(RelayMessage.maximumReceivers).enumerated().map { index, name in
            var name = hasOneReceiver && names.count == 1 ? "" : name.prefix(bytes: Self.longestName)
            // Names are unique within a relay.
            if !taken.insert(name).inserted { name = "\(name.prefix(bytes: Self.longestName - 6)) \(index + 1)" }
            taken.insert(name)
            let own = index < statuses.count ? statuses[index] : ReceiverStatus(state)
            return .init(name: name, status: state == .poweredOn ? own : ReceiverStatus(state))
        }
    }
}
