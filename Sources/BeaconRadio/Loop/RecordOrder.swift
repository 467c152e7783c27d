import BeaconModel

/// The records of a file, sorted by time.
///
/// Each receiver delivers its adverts in batches, so the times in a log of several receivers step back by the length of
/// a batch. A record therefore waits until the file is ``window`` ahead of it. Receivers get their numbers in the order
/// of the sorted records, so that a log gives the same results as its sorted copy.
struct RecordOrder {
    /// The longest step back within a recording, in nanoseconds. Relays send every 0.25 s, and other gateways every few
    /// seconds. A longer step begins another recording in the same file.
    static let window = 5 * Timestamp.nanosecondsPerSecond
    /// The most records that wait.
    private static let most = 1 << 15

    private struct Record {
        var time: Timestamp?
        /// The sort key of a record: its recording in the file, then its time.
        var position: (recording: Int, time: Timestamp)
        var sighting: Sighting?
        var others: [Sighting] = []
        var adverts: [HeardAdvert] = []
        /// The forged iBeacon of a tag.
        var forged: (sighting: Sighting, tag: String)?
        var counts: SourceCounts
        /// The receivers that the file has named with this record.
        var receivers: Range<Int>
    }

    /// True to keep the bytes of adverts in any scan mode, because the mode may change before their time.
    var keepsAdverts = false
    private var ahead: AdvertBatch
    private var records: [Record] = []
    /// The index of the earliest record.
    private var head = 0
    private var newest = (recording: 0, time: Timestamp.zero)
    private var isOver = false
    private var failure: (any Error)?
    /// The numbers of receivers, by the file's numbers; negative before their first record.
    private var numbers: [Int32] = []
    private(set) var receiverNames: [String] = []

    init(tags: TagDirectory? = nil) { ahead = AdvertBatch(keepsAdverts: false, tags: tags) }

    /// Moves the earliest record to a batch, and reads further records as needed.
    ///
    /// - Returns: false at the end.
    /// - Throws: the error of the file, after all records before it.
    mutating func next(from file: any ReceiverDriver, into batch: inout AdvertBatch) throws -> Bool {
        while !isOver, !isDue { read(file, &batch) }
        guard head < records.count else {
            defer { failure = nil }
            if let failure { throw failure }
            return false
        }
        deliver(records[head], names: file.receiverNames, to: &batch)
        head += 1
        if isOver, head == records.count { batch.counts = ahead.counts }
        if head == records.count || head > Self.most {
            records.removeFirst(head)
            head = 0
        }
        return true
    }

    /// True if no earlier record can follow the earliest one.
    private var isDue: Bool {
        guard head < records.count else { return false }
        let position = records[head].position
        return records[head].time == nil || records.count - head > Self.most
            || position.recording < newest.recording || newest.time.since(position.time) > Self.window
    }

    private mutating func read(_ file: any ReceiverDriver, _ batch: inout AdvertBatch) {
        ahead.begin()
        ahead.keepsAdverts = keepsAdverts || batch.keepsAdverts
        do {
            try file.process(at: .zero, into: &ahead)
            isOver = ahead.isOver
        } catch {
            (isOver, failure) = (true, error)
        }
        var forged: (sighting: Sighting, tag: String)?
        for event in ahead.drainEvents() {
            if case .forged(let sighting, let tag) = event { forged = (sighting, tag) } else { batch.report(event) }
        }
        guard !isOver else { return }
        let time = ahead.time ?? newest.time
        if newest.time.since(time) > Self.window { newest = (newest.recording + 1, time) }
        var record = Record(
            time: ahead.time, position: (newest.recording, time), sighting: ahead.heard.first, counts: ahead.counts,
            receivers: numbers.count..<max(numbers.count, file.receiverNames.count))
        record.forged = forged
        numbers.append(contentsOf: repeatElement(-1, count: record.receivers.count))
        if ahead.heard.count > 1 { record.others = Array(ahead.heard.dropFirst()) }
        ahead.forEachAdvert { reception, advert in
            record.adverts.append(HeardAdvert(reception, bytes: advert.withUnsafeBytes { [UInt8]($0) }))
        }
        var (low, high) = (time < newest.time ? head : records.count, records.count)
        while low < high {
            // Records with the same time keep the order of the file.
            let middle = (low + high) / 2
            if records[middle].position <= record.position { low = middle + 1 } else { high = middle }
        }
        records.insert(record, at: low)
        newest.time = max(newest.time, time)
    }

    private mutating func deliver(_ record: Record, names: [String], to batch: inout AdvertBatch) {
        batch.time = record.time
        if record.counts.packets > batch.counts.packets { batch.counts = record.counts }
        func number(_ receiver: ReceiverID) -> ReceiverID {
            let index = Int(receiver.index)
            if numbers[index] < 0 {
                numbers[index] = Int32(receiverNames.count)
                receiverNames.append(names[index])
            }
            return ReceiverID(UInt16(numbers[index]))
        }
        func hear(_ sighting: Sighting) {
            batch.heard.append(sighting)
            batch.heard[batch.heard.count - 1].receiver = number(sighting.receiver)
        }
        if let sighting = record.sighting { hear(sighting) }
        for sighting in record.others { hear(sighting) }
        for advert in record.adverts where batch.keepsAdverts {
            var reception = advert.reception
            reception.receiver = number(reception.receiver)
            batch.keep(reception, advert.bytes.span.bytes)
        }
        if let (sighting, tag) = record.forged {
            var sighting = sighting
            sighting.receiver = number(sighting.receiver)
            batch.report(.forged(sighting, tag: tag))
        }
        for index in record.receivers { _ = number(ReceiverID(UInt16(index))) }
    }
}
