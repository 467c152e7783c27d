import BeaconEngine
import BeaconModel
import BeaconRadio
import BeaconService

/// The JSON lines of `range` and `monitor`.
enum EventJSON {
    /// A frame, as `decode` and `advertise` print it.
    static func append(_ frame: IBeaconFrame, to buffer: inout [UInt8]) {
        buffer.append(json: "{\"uuid\":\"")
        buffer.append(text: frame.identity.uuid)
        buffer.append(json: "\",\"major\":")
        buffer.append(decimal: Int(frame.identity.major))
        buffer.append(json: ",\"minor\":")
        buffer.append(decimal: Int(frame.identity.minor))
        buffer.append(json: ",\"measuredPower\":")
        buffer.append(decimal: Int(frame.measuredPower))
        buffer.append(json: "}\n")
    }

    /// One report of `range`.
    static func append(_ event: SessionEvent.RangingEvent, to buffer: inout [UInt8]) {
        buffer.append(json: "{\"time\":")
        buffer.append(jsonTime: event.time)
        buffer.append(json: ",\"receiver\":")
        buffer.append(contentsOf: SightingLogFormat.jsonText(event.receiver))
        buffer.append(json: ",\"region\":")
        if let constraint = event.constraint {
            buffer.append(json: "{")
            append(constraint, to: &buffer)
            buffer.append(json: "}")
        } else {
            buffer.append(json: "null")
        }
        buffer.append(json: ",\"beacons\":[")
        for (index, beacon) in event.beacons.enumerated() {
            if index > 0 { buffer.append(json: ",") }
            append(beacon, to: &buffer)
        }
        buffer.append(json: "]}\n")
    }

    private static func append(_ beacon: RangedBeacon, to buffer: inout [UInt8]) {
        buffer.append(json: "{\"address\":\"")
        buffer.append(text: beacon.address)
        buffer.append(json: "\",\"uuid\":\"")
        buffer.append(text: beacon.identity.uuid)
        buffer.append(json: "\",\"major\":")
        buffer.append(decimal: Int(beacon.identity.major))
        buffer.append(json: ",\"minor\":")
        buffer.append(decimal: Int(beacon.identity.minor))
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
        buffer.append(json: "}")
    }

    /// One event of `monitor`.
    static func append(
        _ kind: SessionEvent.Kind, _ event: SessionEvent.RegionEvent, to buffer: inout [UInt8]
    ) {
        buffer.append(json: "{\"time\":")
        buffer.append(jsonTime: event.time)
        buffer.append(json: ",\"receiver\":")
        if let receiver = event.receiver {
            buffer.append(contentsOf: SightingLogFormat.jsonText(receiver))
        } else {
            buffer.append(json: "null")
        }
        buffer.append(json: ",\"event\":\"")
        buffer.append(contentsOf: kind.word.utf8)
        buffer.append(json: "\",\"state\":\"")
        buffer.append(contentsOf: event.state.word.utf8)
        buffer.append(json: "\",\"region\":{\"name\":")
        buffer.append(contentsOf: SightingLogFormat.jsonText(event.name))
        buffer.append(json: ",")
        append(event.constraint, to: &buffer)
        buffer.append(json: "}}\n")
    }

    private static func append(_ constraint: BeaconConstraint, to buffer: inout [UInt8]) {
        buffer.append(json: "\"uuid\":\"")
        buffer.append(text: constraint.uuid)
        buffer.append(json: "\",\"major\":")
        append(constraint.major, to: &buffer)
        buffer.append(json: ",\"minor\":")
        append(constraint.minor, to: &buffer)
    }

    private static func append(_ number: UInt16?, to buffer: inout [UInt8]) {
        if let number {
            buffer.append(decimal: Int(number))
        } else {
            buffer.append(json: "null")
        }
    }
}

extension SessionEvent.Kind {
    /// The event's name in JSON and in text.
    var word: String {
        switch self {
        case .enter: "enter"
        case .exit: "exit"
        case .state: "state"
        }
    }
}

extension RegionState {
    /// The state's name in JSON and in text.
    var word: String {
        switch self {
        case .unknown: "unknown"
        case .inside: "inside"
        case .outside: "outside"
        }
    }
}
