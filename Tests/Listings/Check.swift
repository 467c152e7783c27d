import BeaconTestKit
import Foundation

/// What a listing has to show, line by line.
final class Check {
    private var hasFailed = false

    /// Notes whether something that a document says holds.
    func that(_ statement: String, _ holds: Bool, _ seen: @autoclosure () -> String = "") {
        if holds {
            print("  ok: \(statement)")
        } else {
            hasFailed = true
            print("  NOT SO: \(statement) \(seen())")
        }
    }

    /// Ends the program with what came out.
    func finish() -> Never { exit(hasFailed ? 1 : 0) }
}

extension SimulatedBeacon {
    /// A beacon, so many metres from the device.
    init(_ uuid: String, major: UInt16 = 1, minor: UInt16, at metres: Double) {
        guard let uuid = UUID(uuidString: uuid) else { preconditionFailure("\(uuid) is not a UUID") }
        self.init(uuid: uuid, major: major, minor: minor, at: .distance(metres))
    }
}
