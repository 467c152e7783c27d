import BeaconModel
import BeaconMonitoring
import BeaconRadio
import BeaconSupport
import Logging

// The events of sources: adverts with their times, and states.

extension GatewayListener {
    // MARK: - Adverts

    /// Sets the time shift of a source by the first time in a batch.
    mutating func place(_ batch: SourceBatch, of number: Int) {
        guard sources[number].shift == nil, let time = batch.sightings.first?.time ?? batch.time else { return }
        // Radios share a clock, so they share the shift.
        let sibling = sources.first { $0.settings.specification.isRadio && $0.shift != nil }
        if sources[number].settings.specification.isRadio, let sibling {
            sources[number].shift = sibling.shift
        } else {
            sources[number].begin(at: time, now: core.time ?? origin ?? time)
        }
        if origin == nil { origin = time }
        setWallOffsets(of: number)
    }

    /// Returns the first time of a batch by the core's clock.
    func earliest(_ batch: SourceBatch, _ number: Int) -> Timestamp {
        guard let time = batch.sightings.first?.time ?? batch.time else { return .zero }
        return sources[number].shared(time)
    }

    /// Handles the adverts of a source whose time shift is known.
    ///
    /// - Parameter isCounted: whether the adverts of each receiver are counted.
    /// - Returns: the batch's time, by the core's clock and by the wall clock; nil if it gives none.
    mutating func receive(
        _ batch: SourceBatch, from number: Int, isCounted: Bool
    ) -> (core: Timestamp, wall: Timestamp)? {
        sources[number].count(batch)
        addReceivers(of: batch, from: number)
        let source = sources[number]
        for (receiver, status) in source.listener.statuses(batch.receiverStatuses) {
            setHearing(status.hearing, of: receiver)
            if status.hearing == .doubtful {
                core.confirmHearing(of: receiver, until: source.shared(status.heardUntil))
            }
            core.setSmoothed(status.isSmoothed, of: receiver)
        }
        if isCounted { countAdverts(of: batch, by: source) }
        core.receive(
            batch.sightings.compactMap { heard in
                guard var sighting = source.listener.sighting(heard) else { return nil }
                sighting.time = source.shared(sighting.time)
                return sighting
            })
        guard let time = batch.time, !isTimeUnreliable(source) else { return nil }
        let (shared, wall) = (source.shared(time), time.advanced(by: source.wallOffset))
        core.advance(upTo: shared)
        self.time = max(wall, self.time ?? wall)
        return (shared, wall)
    }

    /// Returns true for a deaf radio beside a working one. A deaf radio cannot know how long the machine was suspended
    /// before the time that it gives; the working radio reports that first.
    private func isTimeUnreliable(_ source: GatewaySource) -> Bool {
        guard source.settings.specification.isRadio, source.hearing != .hearing else { return false }
        return sources.contains { $0.settings.specification.isRadio && !$0.isEnded && $0.hearing == .hearing }
    }

    // MARK: - States of sources

    /// The message when all sources have ended by themselves.
    var closingSummary: String {
        let isSimulated = sources.contains { $0.settings.specification.isSimulation }
        return "all sources have ended; beacond exits once waiting events are delivered"
            + (isSimulated ? "; add ?loop to a simulation's name to repeat it" : "")
    }

    /// Handles an event other than a batch.
    mutating func receive(_ event: SourceEvent, from number: Int) {
        let name = sources[number].settings.name
        if sources[number].isLeaving, isEnd(event) {
            // Another source takes its place. Until then its hearing is unknown.
            sources[number].isEnded = true
            return
        }
        switch event {
        case .heard, .advertising: return
        case .opened:
            logger.info("listening to \(name)")
            sources[number].state = .running
            sources[number].opened()
            // A radio that takes another's place is treated as the same radio with a new name.
            if sources[number].settings.specification.hasReceivers {
                sources[number].listener.restart()
            } else {
                sources[number].listener.reopen()
            }
        case .state(let state): receive(state, from: number)
        case .deaf(let from, let to, let adapter):
            guard sources[number].shift != nil else { return }
            let (begin, end) = (sources[number].shared(from), sources[number].shared(to))
            // A suspended machine or a stopped process affects all sources, and the first report of it moves the time
            // for all. The core counts no period twice.
            for receiver in deafReceivers(adapter, of: number) { core.skip(from: begin, to: end, of: receiver) }
        case .wallClock(let ahead):
            sources[number].wallOffset = ahead
            setWallOffsets(of: number)
        case .notice(let notice):
            logger.log(level: notice.isTrouble ? .warning : .info, "\(name): \(notice)")
            if notice.kind == .tooManyReceivers { sources[number].crowd = notice.message }
            if notice.kind == .receiversFit { sources[number].crowd = nil }
        case .failed(let error, let retry):
            sources[number].failures += 1
            if let retry {
                sources[number].state = .failing("\(error)")
                logger.error("\(name): \(error.sentence) Trying again in \(Int(retry.components.seconds)) s")
            } else {
                sources[number].state = .failed("\(error)")
                logger.error("\(name): \(error)")
            }
            sources[number].isEnded = retry == nil
            loseHearing(of: number)
        case .ended:
            if sources[number].state == .running { sources[number].state = .ended }
            // A stopped source has not ended by itself.
            if !isStopped { logger.info("\(name) has ended") }
            sources[number].isEnded = true
            loseHearing(of: number)
        }
    }

    private func isEnd(_ event: SourceEvent) -> Bool {
        switch event {
        case .failed, .ended: true
        default: false
        }
    }

    /// Marks the receivers of a source that failed or ended as lost. When all sources have ended, the clock stops and
    /// the states stay as they are, also while the gateway stops one source after another.
    private mutating func loseHearing(of number: Int) {
        if sources.allSatisfy(\.isEnded) {
            if let time = core.time { core.advance(to: time) }
        } else {
            setHearing(isStopped ? .interrupted : .lost, of: number)
        }
    }

    private mutating func receive(_ state: RadioState, from number: Int) {
        let name = sources[number].settings.name
        let outage = sources[number].settings.specification.outage(in: state)
        if let outage, sources[number].state == .running {
            sources[number].state = .failing(outage)
            sources[number].failures += 1
            logger.error("\(name): \(outage); regions keep their state until it is back")
        } else if state == .poweredOn || state == .unknown && sources[number].settings.specification.hasReceivers,
            case .failing = sources[number].state
        {
            sources[number].state = .running
            logger.notice("\(name): the radio is back")
        }
        // If a source has several adapters, its next batch specifies which of them hear.
        setHearing(state.hearing, of: number)
    }

    /// Returns the receivers that a deafness concerns: one adapter of a source, or all.
    private func deafReceivers(_ adapter: ReceiverID?, of number: Int) -> [ReceiverID] {
        adapter == nil ? sources.flatMap(\.receivers) : sources[number].listener.receivers(at: adapter)
    }

    /// Sets the wall clock of receivers of a source; nil for all of them.
    mutating func setWallOffsets(of number: Int, for receivers: [ReceiverID]? = nil) {
        let source = sources[number]
        for receiver in receivers ?? source.receivers {
            core.setWallOffset(source.wallOffset - (source.shift ?? 0), of: receiver)
        }
    }
}
