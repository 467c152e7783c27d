import BeaconModel
import BeaconSupport
import Foundation
import TestSupport

@testable import LinuxRadio

/// A stand-in for bluetoothd on its own thread, for callers that wait for its answers.
final class StandInThread: Sendable {
    private struct State {
        var isOver = false
        var calls: [String] = []
    }

    private let state = Locked(State())

    /// Starts a stand-in with an adapter of each of these names, and waits until it is on the bus.
    init(at address: String, _ names: [String]) throws {
        let state = state
        Thread.detachNewThread {
            // If this fails, the waiting caller fails too.
            guard let blueZ = try? StandInBlueZ(at: address, names.map { StandInAdapter($0) }) else { return }
            while !state.withLock({ state in state.isOver }) {
                _ = Readiness.wait(for: [blueZ.descriptor], milliseconds: 20)
                blueZ.process()
                let calls = blueZ.calls
                state.withLock { state in state.calls = calls }
            }
        }
        let end = ContinuousClock.now + .hang
        // A survey that finds the stand-in proves that it has its name.
        while BlueZSurvey.make(at: address).daemonError != nil {
            guard ContinuousClock.now < end else { throw Failure("the stand-in does not appear on the bus") }
        }
    }

    /// The called methods, in order.
    var calls: [String] { state.withLock { $0.calls } }

    /// Ends the stand-in.
    func stop() { state.withLock { $0.isOver = true } }
}
