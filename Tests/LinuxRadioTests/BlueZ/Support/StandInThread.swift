import BeaconModel
import BeaconSupport
import Foundation
import TestSupport

@testable import LinuxRadio

/// A stand-in for bluetoothd that works by itself, for what waits for its answers.
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
            // Where it fails, whoever waits for it fails.
            guard let blueZ = try? StandInBlueZ(at: address, names.map { StandInAdapter($0) }) else { return }
            while !state.withLock({ state in state.isOver }) {
                _ = Readiness.wait(for: [blueZ.descriptor], milliseconds: 20)
                blueZ.process()
                let calls = blueZ.calls
                state.withLock { state in state.calls = calls }
            }
        }
        let end = ContinuousClock.now + .hang
        // A survey that finds it shows that it has its name.
        while BlueZSurvey.make(at: address).daemonError != nil {
            guard ContinuousClock.now < end else { throw Failure("the stand-in does not come") }
        }
    }

    /// What methods were called, in order.
    var calls: [String] { state.withLock { $0.calls } }

    /// Ends it.
    func stop() { state.withLock { $0.isOver = true } }
}
