/// A change of a region's state, the ranging report of one second, a beacon's change of place, or a suspicion.
///
/// All sources and destinations of events use this type: the command line, the applications' center and beacond.
@nonexhaustive
public enum BeaconEvent: Hashable, Sendable {
    /// The state of a region changed or became known.
    case region(RegionEvent)

    /// The report of one second, receiver and constraint.
    case ranged(RangingEvent)

    /// A beacon entered a place, left it, or can no longer be located.
    case placed(PlaceEvent)

    /// The places of all beacons, once a second on request.
    case located(LocatingEvent)

    /// More than one device seems to advertise an identity.
    case suspected(SuspicionEvent)
}

/// The JSON lines of frames and events, which are the same on the command line, for programs that run for an event, and
/// in beacond.
public enum EventJSON {
    /// Appends an event's line. `range` and `monitor` print it, and programs that run for an event read it.
    public static func append(_ event: BeaconEvent, to buffer: inout [UInt8]) {
        switch event {
        case .region(let change): append(change, to: &buffer)
        case .ranged(let report): append(report, to: &buffer)
        case .placed(let change): append(change, to: &buffer)
        case .located(let report): append(report, to: &buffer)
        case .suspected(let event): append(event, to: &buffer)
        }
    }

    /// Appends a frame's line, which `decode` and `advertise` print.
    public static func append(_ frame: IBeaconFrame, to buffer: inout [UInt8]) {
        buffer.append(json: "{")
        append(frame.identity, to: &buffer)
        buffer.append("measuredPower", Int(frame.measuredPower))
        buffer.append(json: "}\n")
    }

    /// Appends the line of one second's report.
    public static func append(_ event: RangingEvent, to buffer: inout [UInt8]) {
        buffer.append(json: "{\"time\":")
        buffer.append(jsonTime: event.time)
        buffer.append("receiver", event.receiver)
        append(region: event.constraint, to: &buffer)
        buffer.append(json: ",\"beacons\":[")
        for (index, beacon) in event.beacons.enumerated() {
            if index > 0 { buffer.append(json: ",") }
            append(beacon, to: &buffer)
        }
        buffer.append(json: "]}\n")
    }

    /// Appends the line of a proximity event, which programs of rules read.
    public static func append(_ event: ProximityEvent, to buffer: inout [UInt8]) {
        append(event, adding: [], to: &buffer)
    }

    /// Appends the line of a proximity event.
    ///
    /// - Parameter members: further members of the beacon's object, as JSON.
    package static func append(_ event: ProximityEvent, adding members: [UInt8], to buffer: inout [UInt8]) {
        buffer.append(json: "{\"time\":")
        buffer.append(jsonTime: event.time)
        buffer.append("receiver", event.receiver)
        buffer.append("event", event.name)
        if let reached = event.reached { buffer.append("reached", reached.description) }
        if event.duration > .zero { buffer.append("seconds", Int(event.duration.components.seconds)) }
        append(region: event.constraint, to: &buffer)
        buffer.append(json: ",\"beacon\":")
        append(event.beacon, to: &buffer)
        if !members.isEmpty {
            buffer.removeLast()
            buffer += [UInt8(ascii: ",")] + members + [UInt8(ascii: "}")]
        }
        buffer.append(json: "}\n")
    }

    private static func append(_ beacon: RangedBeacon, to buffer: inout [UInt8]) {
        buffer.append(json: "{\"address\":\"")
        buffer.append(text: beacon.address)
        buffer.append(json: "\",")
        append(beacon.identity, to: &buffer)
        buffer.append(json: ",\"proximity\":\"")
        buffer.append(contentsOf: beacon.proximity.description.utf8)
        buffer.append(json: "\",\"accuracy\":")
        if beacon.accuracy < 0 {
            buffer.append(json: "-1")
        } else {
            buffer.append(fixed: beacon.accuracy, decimals: 3)
        }
        buffer.append(json: ",\"rssi\":")
        buffer.append(decimal: beacon.rssi)
        buffer.append(json: ",\"measuredPower\":")
        if let power = beacon.measuredPower { buffer.append(decimal: power) } else { buffer.append(json: "null") }
        buffer.append(json: ",\"interval\":")
        if let interval = beacon.advertisingInterval {
            let (seconds, attoseconds) = interval.components
            buffer.append(fixed: Double(seconds) + Double(attoseconds) / 1e18, decimals: 3)
        } else {
            buffer.append(json: "null")
        }
        buffer.append(json: ",\"accuracyRange\":")
        if let range = beacon.accuracyRange {
            buffer.append(json: "[")
            buffer.append(fixed: range.lowerBound, decimals: 2)
            buffer.append(json: ",")
            if range.upperBound < .infinity {
                buffer.append(fixed: range.upperBound, decimals: 2)
            } else {
                buffer.append(json: "null")
            }
            buffer.append(json: "]")
        } else {
            buffer.append(json: "null")
        }
        if beacon.isUncalibrated { buffer.append(json: ",\"uncalibrated\":true") }
        buffer.append(json: "}")
    }

    /// Appends the line of a region's change.
    public static func append(_ event: RegionEvent, to buffer: inout [UInt8]) {
        buffer.append(json: "{\"time\":")
        buffer.append(jsonTime: event.time)
        buffer.append("receiver", event.receiver)
        buffer.append("event", event.kind.rawValue)
        buffer.append("state", event.state.description)
        buffer.append(json: ",\"region\":{")
        buffer.append("name", event.name)
        append(event.constraint, to: &buffer)
        buffer.append(json: "}}\n")
    }

    /// Appends the line of a beacon's change of place.
    public static func append(_ event: PlaceEvent, to buffer: inout [UInt8]) {
        append(event, "place", to: &buffer)
    }

    /// Appends a line for each located beacon.
    public static func append(_ event: LocatingEvent, to buffer: inout [UInt8]) {
        for beacon in event.beacons { append(beacon, "located", to: &buffer) }
    }

    /// Appends the line of a suspicion.
    public static func append(_ event: SuspicionEvent, to buffer: inout [UInt8]) {
        let grounds = event.grounds
        buffer.append(json: "{\"time\":")
        buffer.append(jsonTime: event.time)
        buffer.append("receiver", event.receiver)
        buffer.append("event", "suspicious")
        buffer.append("reason", grounds.reason.rawValue)
        append("receivers", grounds.receivers, to: &buffer)
        append("addresses", grounds.addresses, to: &buffer)
        buffer.append("distance", grounds.distance, decimals: 1)
        buffer.append("seconds", grounds.seconds, decimals: 1)
        buffer.append("speed", grounds.speed, decimals: 1)
        buffer.append(json: ",\"beacon\":{")
        append(event.identity, to: &buffer)
        buffer.append(json: "}}\n")
    }

    private static func append(_ key: StaticString, _ texts: [String], to buffer: inout [UInt8]) {
        buffer.append(key: key)
        buffer.append(json: "[")
        for (index, text) in texts.enumerated() {
            if index > 0 { buffer.append(json: ",") }
            buffer.append(jsonText: text)
        }
        buffer.append(json: "]")
    }

    private static func append(_ event: PlaceEvent, _ name: String, to buffer: inout [UInt8]) {
        buffer.append(json: "{\"time\":")
        buffer.append(jsonTime: event.time)
        buffer.append("receiver", event.receiver)
        buffer.append("event", name)
        buffer.append("state", event.state.description)
        buffer.append("place", event.place)
        buffer.append("before", event.before)
        buffer.append("level", event.level, decimals: 1)
        buffer.append("margin", event.margin, decimals: 1)
        buffer.append("runnerUp", event.runnerUp)
        buffer.append(json: ",\"beacon\":{")
        append(event.identity, to: &buffer)
        buffer.append(json: "}}\n")
    }

    /// Appends the ranged constraint; null for every beacon.
    private static func append(region constraint: BeaconConstraint?, to buffer: inout [UInt8]) {
        buffer.append(json: ",\"region\":")
        guard let constraint else { return buffer.append(json: "null") }
        buffer.append(json: "{")
        append(constraint, to: &buffer)
        buffer.append(json: "}")
    }

    private static func append(_ identity: BeaconIdentity, to buffer: inout [UInt8]) {
        buffer.append(json: "\"uuid\":\"")
        buffer.append(text: identity.uuid)
        buffer.append(json: "\",\"major\":")
        buffer.append(decimal: Int(identity.major))
        buffer.append(json: ",\"minor\":")
        buffer.append(decimal: Int(identity.minor))
    }

    private static func append(_ constraint: BeaconConstraint, to buffer: inout [UInt8]) {
        buffer.append("uuid", constraint.uuid.description)
        buffer.append("major", constraint.major.map(Int.init))
        buffer.append("minor", constraint.minor.map(Int.init))
    }
}
