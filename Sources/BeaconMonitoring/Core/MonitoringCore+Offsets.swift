package import BeaconEngine
package import BeaconModel

/// The learned offsets.
extension MonitoringCore {
    /// Starts to learn the offsets of beacons, and of receivers that move; see ``OffsetLearner``.
    ///
    /// - Parameter stored: the learner of an earlier run; nil to start with the offsets of the calibrations.
    package mutating func startLearningOffsets(from stored: OffsetLearner? = nil) {
        recording?.note(.learn(stored))
        let learned = calibrations.learned
        engine.learnOffsets(
            with: stored
                ?? OffsetLearner(receivers: learned?.receivers ?? [:], beacons: learned?.beaconOffsets ?? [:]))
    }

    /// Stops to learn offsets. Those of the calibrations are used again. Harmless if it does not learn.
    package mutating func stopLearningOffsets() {
        recording?.note(.stopLearning)
        let learned = calibrations.learned
        engine.useOffsets(receivers: learned?.receivers ?? [:], beacons: learned?.beaconOffsets ?? [:])
    }

    /// Sets whether a receiver moves among the beacons. Receivers stand by default.
    package mutating func setMoves(_ moves: Bool, of receiver: ReceiverID) {
        recording?.note(.move(receiver, moves))
        engine.setMoves(moves, of: receiver)
    }

    /// Lets the learned offset of a receiver follow its new name.
    package mutating func renameOffset(of old: String, to new: String) {
        recording?.note(.renameOffset(old, new))
        engine.renameOffset(of: old, to: new)
    }

    /// The learned offsets with their grounds; nil if none are learned.
    package var learnedOffsets: OffsetLearner? { engine.offsetLearner }

    /// Returns the learned offsets if they were fitted since the last call; nil otherwise.
    package mutating func takeNewOffsets() -> OffsetLearner? {
        guard engine.hasNewOffsets else { return nil }
        return engine.takeNewOffsets(at: wall(Timestamp(nanoseconds: max(newest, 0)), of: nil))
    }
}
