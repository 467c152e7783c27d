import BeaconModel
import BeaconMonitoring
import BeaconRadio
import BeaconSupport
import Logging

extension Gateway {
    // MARK: - Messages

    /// Handles a message of a source, as it comes.
    func receive(_ message: SourceMessage, from number: Int) async {
        if case .heard(let batch) = message {
            await receive(batch, from: number)
        } else {
            await receiveOther(message, from: number)
        }
    }

    /// Plays files and simulations in the order of their shifted times, so that the result does not depend on which
    /// thread is faster.
    func runInOrder() async {
        var iterators = sources.map { $0.runner.messages.makeAsyncIterator() }
        var heads: [SourceBatch?] = Array(repeating: nil, count: sources.count)
        var isOpen = Array(repeating: true, count: sources.count)
        while true {
            for number in iterators.indices {
                while isOpen[number], heads[number] == nil {
                    guard let message = await iterators[number].next() else {
                        isOpen[number] = false
                        break
                    }
                    if case .heard(let batch) = message {
                        place(batch, of: number)
                        heads[number] = batch
                    } else {
                        await receiveOther(message, from: number)
                    }
                }
            }
            let waiting = heads.indices.filter { heads[$0] != nil }
            guard let first = waiting.min(by: { earliest(heads[$0], $0) < earliest(heads[$1], $1) }),
                let batch = heads[first]
            else { return }
            // As much of the batch as comes before the next one of another source: adverts, and the time after them.
            let limit = waiting.filter { $0 != first }.map { earliest(heads[$0], $0) }.min() ?? .latest
            let count = batch.sightings.prefix { sources[first].shared($0.time) <= limit }.count
            let isTimeDue = batch.time.map { sources[first].shared($0) <= limit } ?? true
            if count == batch.sightings.count, isTimeDue || count == 0 {
                heads[first] = nil
                await apply(batch, from: first)
            } else {
                var part = batch
                part.sightings = Array(batch.sightings.prefix(count))
                part.time = part.sightings.last?.time
                heads[first]?.sightings.removeFirst(count)
                await apply(part, from: first)
            }
        }
    }

    private func earliest(_ batch: SourceBatch?, _ number: Int) -> Timestamp {
        guard let time = batch?.sightings.first?.time ?? batch?.time else { return .zero }
        return sources[number].shared(time)
    }

    private func receive(_ batch: SourceBatch, from number: Int) async {
        place(batch, of: number)
        await apply(batch, from: number)
    }

    /// Places a source in the gateway's time, with the first time that it gives.
    private func place(_ batch: SourceBatch, of number: Int) {
        guard sources[number].shift == nil, let time = batch.sightings.first?.time ?? batch.time else { return }
        // Radios share a clock, and so the place of their times.
        let sibling = sources.first { $0.settings.specification.isRadio && $0.shift != nil }
        if sources[number].settings.specification.isRadio, let sibling {
            sources[number].shift = sibling.shift
        } else {
            sources[number].begin(at: time, now: core.time ?? origin ?? time)
        }
        if origin == nil { origin = time }
        setWallOffsets(of: number)
    }

    /// Adds the receivers of a source. A batch that has only a time, while the radio is lost, names none.
    private func addReceivers(of batch: SourceBatch, from number: Int) {
        guard !batch.receiverNames.isEmpty, batch.receiverNames != sources[number].receiverNames else { return }
        let before = sources[number].receiverNames
        sources[number].receiverNames = batch.receiverNames
        for (place, name) in batch.receiverNames.enumerated() where place < before.count && before[place] != name {
            replaceReceiver(at: place, by: name, of: number)
        }
        if let first = sources[number].expected.removeValue(forKey: batch.receiverNames[0]) {
            // The one that stood for the source hears nothing ever.
            receivers[Int(first.index)].place = 0
            sources[number].receivers[0] = first
        }
        while sources[number].receivers.count < batch.receiverNames.count {
            let place = sources[number].receivers.count
            let receiver =
                sources[number].expected.removeValue(forKey: batch.receiverNames[place])
                ?? addReceiver(source: number, place: place)
            receivers[Int(receiver.index)].place = place
            sources[number].receivers.append(receiver)
            setHearing(sources[number].hearing, of: receiver)
        }
        for (place, receiver) in sources[number].receivers.enumerated() {
            core.name(receiver, sources[number].name(place))
        }
        setWallOffsets(of: number)
    }

    /// Gives the place of a receiver that is gone to another one, which begins with nothing that the other one heard.
    private func replaceReceiver(at place: Int, by name: String, of number: Int) {
        let old = sources[number].receivers[place]
        view.forget(receiver: old)
        lists = lists.filter { $0.key.receiver != old }
        if let expected = sources[number].expected.removeValue(forKey: name) {
            core.retire(old)
            setHearing(.lost, of: old)
            receivers[Int(old.index)].place = .max
            receivers[Int(expected.index)].place = place
            sources[number].receivers[place] = expected
        } else {
            records[Int(old.index)] = ReceiverRecord()
            core.reassign(old, to: sources[number].name(place))
        }
        setHearing(sources[number].hearing, of: sources[number].receivers[place])
    }

    private func apply(_ batch: SourceBatch, from number: Int) async {
        sources[number].count(batch)
        addReceivers(of: batch, from: number)
        feedFleet(batch, from: number)
        let source = sources[number]
        for (place, status) in batch.receiverStatuses.enumerated() where place < source.receivers.count {
            setHearing(status.hearing, of: source.receivers[place])
            core.setSmoothed(status.isSmoothed, of: source.receivers[place])
        }
        countAdverts(of: batch, by: source)
        record(batch, of: number)
        for var sighting in batch.sightings {
            guard Int(sighting.receiver.index) < source.receivers.count else { continue }
            sighting.time = source.shared(sighting.time)
            sighting.receiver = source.receivers[Int(sighting.receiver.index)]
            core.receive(sighting)
        }
        guard let time = batch.time, !isIgnorant(source) else { return await handleEvents() }
        let shared = source.shared(time)
        core.advance(upTo: shared)
        reportMissingReceivers()
        reportOmittedSuspicions()
        let wall = time.advanced(by: source.wallOffset)
        statistics.time = max(wall, statistics.time ?? wall)
        await handleEvents(at: (shared, wall))
    }

    /// Counts what each receiver heard, for people who look.
    private func countAdverts(of batch: SourceBatch, by source: GatewaySource) {
        guard broadcast != nil else { return }
        let now = ContinuousClock.now
        for (place, receiver) in source.receivers.enumerated() {
            let count = batch.sightings.count { Int($0.receiver.index) == place }
            records[Int(receiver.index)].count(count, at: now)
        }
    }

    /// Returns true for a radio that does not hear beside one that does: it cannot know how much of the time that it
    /// gives was slept through, which the other reports before it gives the time.
    private func isIgnorant(_ source: GatewaySource) -> Bool {
        guard source.settings.specification.isRadio, source.hearing != .hearing else { return false }
        return sources.contains { $0.settings.specification.isRadio && !$0.isEnded && $0.hearing == .hearing }
    }

    // MARK: - States of sources

    /// What to say where all sources have ended by themselves.
    var lastWords: String {
        let isSimulated = sources.contains { $0.settings.specification.isSimulation }
        return "all sources have ended, and so does beacond, once what waits was delivered"
            + (isSimulated ? "; a simulation goes on with ?loop behind its name" : "")
    }

    private func receiveOther(_ message: SourceMessage, from number: Int) async {
        let name = sources[number].settings.name
        if sources[number].isLeaving, isEnd(message) {
            // Another one takes its place, and until then nothing is known.
            sources[number].isEnded = true
            return await handleEvents()
        }
        switch message {
        case .heard: return
        case .opened:
            logger.info("listening to \(name)")
            statistics.sources[number].state = .running
            sources[number].opened()
            // A radio reports its state itself.
            if !sources[number].settings.specification.isRadio { setHearing(.hearing, of: number) }
        case .radio(let event):
            receive(event, from: number, name)
        case .failed(let error, let retry):
            statistics.sources[number].failures += 1
            if let retry {
                statistics.sources[number].state = .failing("\(error)")
                logger.error("\(name): \(error.sentence) It is tried again in \(Int(retry.components.seconds)) s")
            } else {
                statistics.sources[number].state = .failed("\(error)")
                logger.error("\(name): \(error)")
            }
            sources[number].isEnded = retry == nil
            loseHearing(of: number)
        case .ended:
            if statistics.sources[number].state == .running { statistics.sources[number].state = .ended }
            // One that is stopped has not ended by itself.
            if !isStopped { logger.info("\(name) has ended") }
            sources[number].isEnded = true
            loseHearing(of: number)
        }
        await handleEvents()
    }

    private func isEnd(_ message: SourceMessage) -> Bool {
        switch message {
        case .failed, .ended: true
        default: false
        }
    }

    /// Marks the receivers of a source that failed or ended as lost. When all sources have ended, the clock stops and
    /// the states stay as they are; so they do while the gateway stops, one source after another.
    private func loseHearing(of number: Int) {
        if sources.allSatisfy(\.isEnded) {
            if let time = core.time { core.advance(to: time) }
        } else {
            setHearing(isStopped ? .interrupted : .lost, of: number)
        }
    }

    private func receive(_ event: RadioEvent, from number: Int, _ name: String) {
        switch event {
        case .state(let state):
            let outage = sources[number].settings.specification.outage(in: state)
            if let outage, statistics.sources[number].state == .running {
                statistics.sources[number].state = .failing(outage)
                statistics.sources[number].failures += 1
                logger.error("\(name): \(outage); regions keep their state until it is back")
            } else if state == .poweredOn || state == .unknown && sources[number].settings.specification.hasReceivers,
                case .failing = statistics.sources[number].state
            {
                statistics.sources[number].state = .running
                logger.notice("\(name): the radio is back")
            }
            // If a source has several adapters, its next batch says which of them hear.
            setHearing(state.hearing, of: number)
        case .deaf(let from, let to, let adapter):
            fleet?.feeds[number]?.noteDeafness(from: from, to: to, of: adapter)
            guard sources[number].shift != nil else { return }
            let (begin, end) = (sources[number].shared(from), sources[number].shared(to))
            // A suspend of the machine or a stopped process concerns all sources, and the first that reports it moves
            // the time for all. The core counts no stretch twice.
            for receiver in deafReceivers(adapter, of: number) { core.skip(from: begin, to: end, of: receiver) }
        case .wallClock(let ahead):
            sources[number].wallOffset = ahead
            setWallOffsets(of: number)
        case .notice(let notice):
            logger.log(level: notice.isTrouble ? .warning : .info, "\(name): \(notice)")
            if notice.kind == .crowded { sources[number].crowd = notice.message }
            if notice.kind == .uncrowded { sources[number].crowd = nil }
        case .advertising(let frame, let result): receive(frame, result)
        case .time, .sightings, .receivers: break
        }
    }

    /// Returns the receivers that a deafness concerns: one adapter of a source, or everything.
    private func deafReceivers(_ adapter: ReceiverID?, of number: Int) -> [ReceiverID] {
        guard let adapter else { return sources.flatMap(\.receivers) }
        return sources[number].receivers.indices.contains(Int(adapter.index))
            ? [sources[number].receivers[Int(adapter.index)]] : []
    }

    func setHearing(_ hearing: MonitoringCore.Hearing, of number: Int) {
        sources[number].hearing = hearing
        // A receiver that stands for a source that has named none hears nothing.
        let isStandIn = sources[number].settings.specification.hasReceivers && sources[number].receiverNames.isEmpty
        let isOne = sources[number].receivers.count == 1 && !isStandIn
        for receiver in sources[number].receivers {
            // Of several adapters one may still be away; a batch says so.
            if isOne || hearing != .hearing {
                setHearing(hearing, of: receiver)
            } else if !sources[number].settings.specification.hasReceivers {
                core.setHearing(hearing, of: receiver)
            }
        }
    }

    private func setWallOffsets(of number: Int) {
        let source = sources[number]
        for receiver in source.receivers {
            core.setWallOffset(source.wallOffset - (source.shift ?? 0), of: receiver)
        }
    }
}
