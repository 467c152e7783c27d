package import BeaconModel

/// A monitor's condition, as stored across launches.
///
/// beacond also reads it, to watch the condition while the application does not run.
package struct StoredCondition: Hashable, Sendable, Codable {
    /// The subject of a condition.
    package enum Subject: Hashable, Sendable, Codable {
        /// At least one beacon that satisfies a constraint is heard.
        case beacons(BeaconConstraint)
        /// The device is in a circle on the ground, in degrees and meters. The condition is stored but never monitored.
        case circle(latitude: Double, longitude: Double, radius: Double)
    }

    /// The monitor's state of a condition, with Apple's numbers.
    package enum State: UInt8, Hashable, Sendable, Codable {
        case unknown, satisfied, unsatisfied, unmonitored
    }

    /// An event of a condition.
    package struct Event: Hashable, Sendable, Codable {
        /// The new state.
        package var state: State
        /// Its time, in seconds since 1970.
        package var time: Double
        /// The beacon that satisfied the condition, if known.
        package var refinement: BeaconIdentity?
        /// The reasons for not monitoring, as the monitor's bits.
        package var diagnostics: UInt16

        /// Creates an event.
        package init(state: State, time: Double, refinement: BeaconIdentity? = nil, diagnostics: UInt16 = 0) {
            self.state = state
            self.time = time
            self.refinement = refinement
            self.diagnostics = diagnostics
        }
    }

    /// The application's identifier for the condition, unique within the monitor.
    package var identifier: String
    /// Its subject.
    package var subject: Subject
    /// The last event that the application handled.
    package var lastEvent: Event
    /// The newest event, if the application has not handled it.
    package var pending: Event?

    /// Creates a condition.
    package init(identifier: String, subject: Subject, lastEvent: Event, pending: Event? = nil) {
        self.identifier = identifier
        self.subject = subject
        self.lastEvent = lastEvent
        self.pending = pending
    }

    /// The beacons that satisfy it; nil for a circle.
    package var constraint: BeaconConstraint? {
        if case .beacons(let constraint) = subject { constraint } else { nil }
    }

    /// The known state, as a region state.
    package var state: RegionState {
        switch (pending ?? lastEvent).state {
        case .satisfied: .inside
        case .unsatisfied: .outside
        case .unknown, .unmonitored: .unknown
        }
    }
}
