import BeaconTestKit
import Foundation

/// The claims that a listing must fulfill, one per line.
final class Check {
    private var hasFailed = false

    /// Records whether a claim of a document holds.
    func that(_ statement: String, _ holds: Bool, _ seen: @autoclosure () -> String = "") {
        if holds {
            print("  ok: \(statement)")
        } else {
            hasFailed = true
            print("  FAILED: \(statement) \(seen())")
        }
    }

    /// Ends the program with the result.
    func finish() -> Never { exit(hasFailed ? 1 : 0) }
}

extension SimulatedBeacon {
    /// Creates a beacon at a distance in meters from the device.
    init(_ uuid: String, major: UInt16 = 1, minor: UInt16, at meters: Double) {
        guard let uuid = UUID(uuidString: uuid) else { preconditionFailure("\(uuid) is not a UUID") }
        self.init(uuid: uuid, major: major, minor: minor, at: .distance(meters))
    }
}
