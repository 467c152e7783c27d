import BeaconModel
import BeaconMonitoring
import BeaconRadio

/// The order in which files and simulations play: by their shifted times, regardless of the speed of threads.
struct BatchMerge {
    /// The next batch of each source; nil if unknown.
    private var heads: [SourceBatch?]

    init(sources: Int) { heads = Array(repeating: nil, count: sources) }

    /// Returns whether the next batch of a source has to be added, unless the source has ended.
    func needsBatch(of number: Int) -> Bool { heads[number] == nil }

    mutating func add(_ batch: SourceBatch, of number: Int) { heads[number] = batch }

    /// Returns the next batch and the number of its source; nil at the end.
    mutating func next(_ listener: borrowing GatewayListener) -> (batch: SourceBatch, source: Int)? {
        var waiting: [(number: Int, batch: SourceBatch, time: Timestamp)] = []
        for (number, batch) in heads.enumerated() {
            if let batch { waiting.append((number, batch, listener.earliest(batch, number))) }
        }
        guard let (first, batch, _) = waiting.min(by: { $0.time < $1.time }) else { return nil }
        // The part of the batch before the next batch of another source: adverts, and the time after them.
        let limit = waiting.filter { $0.number != first }.map(\.time).min() ?? .latest
        let source = listener.sources[first]
        let count = batch.sightings.prefix { source.shared($0.time) <= limit }.count
        let isTimeDue = batch.time.map { source.shared($0) <= limit } ?? true
        if count == batch.sightings.count, isTimeDue || count == 0 {
            heads[first] = nil
            return (batch, first)
        }
        var part = batch
        part.sightings = Array(batch.sightings.prefix(count))
        part.time = part.sightings.last?.time
        heads[first]?.sightings.removeFirst(count)
        return (part, first)
    }
}
