public import BeaconModel

/// The sighting log: one JSON object a line, which people, scripts and ``CaptureReader`` read alike.
public enum SightingLogFormat {
    /// Appends one line.
    ///
    /// - Parameters:
    ///   - sighting: what was heard.
    ///   - time: when it was heard, counted from 1970 and written with milliseconds; nil becomes `null`.
    ///   - receiver: the receiver's name as JSON text, quotes included: ``jsonText(_:)``.
    ///   - buffer: where the line goes.
    public static func append(
        _ sighting: Sighting, time: Timestamp?, receiver: [UInt8], to buffer: inout [UInt8]
    ) {
        buffer.append(json: "{\"time\":")
        buffer.append(jsonTime: time)
        buffer.append(json: ",\"receiver\":")
        buffer.append(contentsOf: receiver)
        buffer.append(json: ",\"address\":\"")
        buffer.append(text: sighting.address)
        buffer.append(json: "\",\"uuid\":\"")
        buffer.append(text: sighting.identity.uuid)
        buffer.append(json: "\",\"major\":")
        buffer.append(decimal: Int(sighting.identity.major))
        buffer.append(json: ",\"minor\":")
        buffer.append(decimal: Int(sighting.identity.minor))
        buffer.append(json: ",\"measuredPower\":")
        buffer.append(decimal: Int(sighting.measuredPower))
        buffer.append(json: ",\"rssi\":")
        buffer.append(decimal: Int(sighting.rssi.rawValue))
        buffer.append(json: "}\n")
    }

    /// A text as JSON writes it, with quotes and escapes.
    public static func jsonText(_ text: String) -> [UInt8] {
        var bytes: [UInt8] = [UInt8(ascii: "\"")]
        for unit in text.utf8 {
            switch unit {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                bytes.append(UInt8(ascii: "\\"))
                bytes.append(unit)
            case 0..<0x20:
                bytes.append(contentsOf: "\\u00".utf8)
                bytes.append(Hexadecimal.digit(unit >> 4))
                bytes.append(Hexadecimal.digit(unit))
            default:
                bytes.append(unit)
            }
        }
        bytes.append(UInt8(ascii: "\""))
        return bytes
    }
}
