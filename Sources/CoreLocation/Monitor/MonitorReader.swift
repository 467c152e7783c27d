internal import BeaconService
internal import Synchronization

/// One iteration over a monitor's events.
final class MonitorReader: Sendable {
    private let tie: MonitorTie
    private let id: MonitorState.ReaderID

    init(_ tie: MonitorTie) {
        self.tie = tie
        id = tie.core.addReader()
    }

    deinit { tie.core.removeReader(id, tie.center) }

    /// The next event; the one before has been dealt with.
    func next() async -> CLMonitor.Event? {
        let wait = tie.core.makeWaitID()
        return await withTaskCancellationHandler {
            await withCheckedContinuation { tie.core.wait(wait, id, $0, tie.center) }
        } onCancel: {
            tie.core.cancel(wait)
        }
    }
}
