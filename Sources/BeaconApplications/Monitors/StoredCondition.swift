package import BeaconModel

/// A condition of a monitor, as it is stored across launches.
///
/// beacond reads it too, to watch for the condition while the application does not run.
package struct StoredCondition: Hashable, Sendable {
    /// A condition's subject.
    package enum Subject: Hashable, Sendable {
        /// At least one beacon of a constraint is heard.
        case beacons(BeaconConstraint)
        /// The device is in a circle on the ground, in degrees and metres. It is stored and never monitored.
        case circle(latitude: Double, longitude: Double, radius: Double)
    }

    /// The monitor's state of a condition, by Apple's numbers.
    package enum State: UInt8, Hashable, Sendable, Codable {
        case unknown, satisfied, unsatisfied, unmonitored
    }

    /// An event of a condition.
    package struct Event: Hashable, Sendable, Codable {
        /// The state since the event.
        package var state: State
        /// Its time, in seconds since 1970.
        package var time: Double
        /// The beacon that satisfied the condition, where it is known.
        package var refinement: BeaconIdentity?
        /// Reasons for not monitoring, by the bits of the monitor.
        package var diagnostics: UInt16

        /// Creates an event from its parts.
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

    /// The application's name for it, which no other condition of the monitor has.
    package var identifier: String
    /// Its subject.
    package var subject: Subject
    /// The last event that the application dealt with.
    package var lastEvent: Event
    /// The newest event, where the application has not dealt with it.
    package var pending: Event?

    /// Creates a condition from its parts.
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

    /// The state that is known of it, as that of a region.
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
    /// Reads a constraint from its text.
    fileprivate func constraint(_ text: String, in values: KeyedDecodingContainer<Self>) throws -> BeaconConstraint {
        guard let constraint = BeaconConstraint(text) else {
            throw DecodingError.dataCorruptedError(
                forKey: self, in: values, debugDescription: "\"\(text)\" is not UUID[/MAJOR[/MINOR]]")
        }
        return constraint
    }
}
