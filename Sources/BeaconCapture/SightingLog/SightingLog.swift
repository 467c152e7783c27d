public import BeaconModel
import BeaconRadio

/// The sighting log: one JSON object per line, for people, scripts and ``CaptureReader``.
public enum SightingLogFormat {
    /// Appends one line.
    ///
    /// - Parameters:
    ///   - sighting: the sighting.
    ///   - time: its time since 1970, written with milliseconds; nil becomes `null`.
    ///   - receiver: the receiver's name as JSON text, including quotes: ``jsonText(_:)``.
    ///   - buffer: the bytes to append to.
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
        if sighting.measuredPower == IBeaconFrame.unavailableMeasuredPower {
            buffer.append(json: "null")
        } else {
            buffer.append(decimal: Int(sighting.measuredPower))
        }
        buffer.append(json: ",\"rssi\":")
        buffer.append(decimal: Int(sighting.rssi.rawValue))
        if sighting.isOfTag { buffer.append(json: ",\"tag\":true") }
        buffer.append(json: "}\n")
    }

    /// Returns a receiver's name as JSON text, including quotes, for ``append(_:time:receiver:to:)``.
    public static func jsonText(_ text: String) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(jsonText: text)
        return bytes
    }
}

/// A reader of sighting logs: one JSON object per line, as `beacon scan --json` prints it.
///
/// Keys may have any order, and unknown keys are ignored. `uuid`, `major`, `minor` and `rssi` are required; `time` and
/// `measuredPower` may be missing or null, `receiver` and `address` have defaults. An `rssi` of null means no reading.
/// `tag` is true for a phone or a watch that was recognized before.
struct SightingLogReader: FormatReader {
    private var lines = LineReader()

    /// Returns true if the available content begins like a JSON object.
    static func detect(_ stream: borrowing ByteStream) -> Bool {
        let blank: Set<UInt8> = [UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"), UInt8(ascii: "\n")]
        return stream.buffer[stream.start..<stream.end].first { !blank.contains($0) } == UInt8(ascii: "{")
    }

    mutating func next(
        _ stream: inout ByteStream,
        _ interpreter: inout PacketInterpreter,
        _ batch: inout AdvertBatch
    ) throws -> SourceRecord? {
        while let (content, whole) = try lines.next(in: &stream) {
            let parsed: SightingLine?
            do throws(JSONScanner.Fault) {
                let line = stream.start..<stream.start + content
                parsed = try SightingLineParser.parse(stream.buffer.span.bytes.extracting(line))
            } catch {
                // Only the last line can have no end: then it was truncated; any other line is damaged.
                throw CaptureError(
                    content == whole ? .truncated : .damaged,
                    "\(error.message); everything before it was read", offset: stream.offset + error.offset)
            }
            stream.consume(whole)
            guard let line = parsed else { continue }
            let receiver = interpreter.receivers.named(line.receiver ?? "log")
            interpreter.countAdvert()
            batch.hear(
                Sighting(
                    time: line.time ?? .zero, receiver: receiver, address: line.address, identity: line.identity,
                    measuredPower: line.measuredPower ?? IBeaconFrame.unavailableMeasuredPower, rssi: line.rssi),
                isTimed: line.time != nil)
            return SourceRecord(time: line.time)
        }
        return nil
    }
}
