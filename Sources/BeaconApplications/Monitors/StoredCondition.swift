package import BeaconModel

/// A monitor's condition, as stored across launches.
///
/// beacond also reads it, to watch the condition while the application does not run.
package struct StoredCondition: Hashable, Sendable {
    /// The subject of a condition.
    package enum Subject: Hashable, Sendable {
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

        private enum Key: String, CodingKey {
            case state, time, refinement, diagnostics
        }

        package init(from decoder: any Decoder) throws {
            let values = try decoder.container(keyedBy: Key.self)
            state = try values.decode(State.self, forKey: .state)
            time = try values.decode(Double.self, forKey: .time)
            if let text = try values.decodeIfPresent(String.self, forKey: .refinement) {
                let constraint = try Key.refinement.constraint(text, in: values)
                if let major = constraint.major, let minor = constraint.minor {
                    refinement = BeaconIdentity(uuid: constraint.uuid, major: major, minor: minor)
                }
            }
            diagnostics = try values.decodeIfPresent(UInt16.self, forKey: .diagnostics) ?? 0
        }

        package func encode(to encoder: any Encoder) throws {
            var values = encoder.container(keyedBy: Key.self)
            try values.encode(state, forKey: .state)
            try values.encode(time, forKey: .time)
            try values.encodeIfPresent(refinement.map { BeaconConstraint($0).description }, forKey: .refinement)
            try values.encode(diagnostics, forKey: .diagnostics)
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

extension StoredCondition: Codable {
    private enum Key: String, CodingKey {
        case identifier, beacons, circle, lastEvent, pending
    }

    private struct Circle: Codable {
        var latitude: Double
        var longitude: Double
        var radius: Double
    }

    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Key.self)
        if let text = try values.decodeIfPresent(String.self, forKey: .beacons) {
            subject = .beacons(try Key.beacons.constraint(text, in: values))
        } else {
            let circle = try values.decode(Circle.self, forKey: .circle)
            subject = .circle(latitude: circle.latitude, longitude: circle.longitude, radius: circle.radius)
        }
        identifier = try values.decode(String.self, forKey: .identifier)
        lastEvent = try values.decode(Event.self, forKey: .lastEvent)
        pending = try values.decodeIfPresent(Event.self, forKey: .pending)
    }

    package func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: Key.self)
        try values.encode(identifier, forKey: .identifier)
        switch subject {
        case .beacons(let constraint): try values.encode(constraint.description, forKey: .beacons)
        case .circle(let latitude, let longitude, let radius):
            try values.encode(Circle(latitude: latitude, longitude: longitude, radius: radius), forKey: .circle)
        }
        try values.encode(lastEvent, forKey: .lastEvent)
        try values.encodeIfPresent(pending, forKey: .pending)
    }
}

extension CodingKey {
    /// Decodes a constraint from its text.
    fileprivate func constraint(_ text: String, in values: KeyedDecodingContainer<Self>) throws -> BeaconConstraint {
        guard let constraint = BeaconConstraint(text) else {
            throw DecodingError.dataCorruptedError(
                forKey: self, in: values, debugDescription: "\"\(text)\" is not UUID[/MAJOR[/MINOR]]")
        }
        return constraint
    }
}
