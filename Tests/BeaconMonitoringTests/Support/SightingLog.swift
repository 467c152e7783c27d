import BeaconModel
import BeaconMonitoring
import BeaconRadio
import Foundation

/// A sighting log that a test writes, in a temporary file.
final class SightingLog {
    let path: String
    private var text = ""

    init() {
        path = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).ndjson").path
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// The UUID of the beacons that matter.
    static let uuid = "e2c56db5-dffb-48d2-b060-d0f5a71096e0"
    static let everyone = BeaconConstraint(uuid: ProximityUUID(high: 0xE2C5_6DB5_DFFB_48D2, low: 0xB060_D0F5_A710_96E0))

    /// Adds a line.
    func add(
        _ time: Double?, minor: Int = 1, uuid: String = SightingLog.uuid, receiver: String = "hci0", rssi: Int = -60
    ) {
        let stamp = time.map { String(format: "%.3f", $0) } ?? "null"
        text += """
            {"time":\(stamp),"receiver":"\(receiver)","address":"c0:00:00:00:00:01","uuid":"\(uuid)","major":1,\
            "minor":\(minor),"measuredPower":-59,"rssi":\(rssi)}

            """
    }

    /// Adds text unchanged.
    func add(raw: String) { text += raw }

    /// Writes the log to its file.
    func write() throws { try text.write(toFile: path, atomically: true, encoding: .utf8) }

    /// Returns a source that reads the log.
    func source(packetInterval: Duration? = nil) throws -> SourceReader {
        try write()
        return try SourceReader(.file(path: path), packetInterval: packetInterval)
    }
}
