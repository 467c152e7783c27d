import BeaconMonitoring
import BeaconSupport

// The journal of the core's inputs, which is written twice a minute.

extension Gateway {
    /// The time between two writes.
    private static let journalPause = Duration.seconds(30)

    /// The bytes of adverts after which a stretch is written early.
    private static let journalBytes = 1 << 20

    /// The most stretches that wait for the disk. The recording then keeps what it has room for.
    private static let mostWaitingStretches = 2

    /// Records the adverts of the configured beacons.
    func recordBeacons() {
        guard let journal else { return }
        listener.core.recording?.isOn = configuration.journal != nil
        listener.core.recording?.record(recordedBeacons)
        if let settings = configuration.journal { journaling.add { await journal.use(settings) } }
    }

    private var recordedBeacons: RecordedBeacons {
        let constraints =
            configuration.regions.map(\.region.constraint) + configuration.beacons.map { $0.region.constraint }
        return RecordedBeacons(constraints, includesStrangers: configuration.journal?.includesStrangers ?? false)
    }

    /// Records the rules, if they differ from the recorded ones.
    ///
    /// - Parameter isStart: true at the start, with the state that rules have from the last run.
    package func recordRules(isStart: Bool = false) async {
        guard journal != nil, let rules else { return }
        let recorded = await rules.recorded(configuration, recordedBeacons, hasState: isStart)
        guard let input = try? recorded.input, input != recordedRules else { return }
        recordedRules = input
        listener.core.recording?.note(input)
    }

    /// Passes what was recorded to the journal if it is due.
    ///
    /// - Parameter isLast: true if it is due in any case.
    func keepJournal(isLast: Bool = false) {
        guard let journal, let recording = listener.core.recording, recording.isOn else { return }
        // A stretch ends at a time of the sources, which they have not told yet at first.
        guard listener.time != nil || isLast else { return }
        let now = ContinuousClock.now
        guard isLast || now >= journalDue || recording.waitingBytes > Self.journalBytes,
            waitingStretches < Self.mostWaitingStretches
        else { return }
        journalDue = now + Self.journalPause
        let checkpoint = recording.beginning(of: listener.core, places: reporter.places)
        guard let taken = listener.core.recording?.take(), !taken.parts.isEmpty || !taken.isContinued else { return }
        let stretch = Journal.Stretch(
            parts: taken.parts, isContinued: taken.isContinued, calibrations: configuration.calibrations,
            checkpoint: checkpoint, end: listener.newestTime.seconds)
        waitingStretches += 1
        // Between the reports before and after, so that the state of rules is that of the checkpoint.
        let kept = Locked<RecordedRules?>(nil)
        if let rules {
            deciding.add { [configuration, recordedBeacons] in
                let recorded = await rules.recorded(configuration, recordedBeacons, hasState: true)
                kept.withLock { $0 = recorded }
            }
        }
        journaling.add { [stretch, deciding] in
            await deciding.finish()
            var stretch = stretch
            stretch.rules = kept.withLock { $0 }
            await journal.append(stretch)
            await self.endStretch()
        }
    }

    /// The folder of the journal; nil if none is kept.
    package var journalFolder: String? { journal?.folder }

    /// Why the disk does not accept the journal; nil if it does, or if none is kept.
    var journalFailure: String? { configuration.journal == nil ? nil : journal?.failure.withLock { $0 } }

    private func endStretch() { waitingStretches -= 1 }

    /// Writes what was recorded until now.
    package func writeJournal() async {
        keepJournal(isLast: true)
        await journaling.finish()
    }
}
