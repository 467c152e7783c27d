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

    /// Runs a listing's app in the situations of the conformance check. Only its document's own warnings may be found.
    ///
    /// - Parameter warned: the numbers of the situations that the document warns of.
    @MainActor
    func conforms<App>(
        _ name: String, warned: Set<Int> = [], _ make: @escaping @MainActor (Conformance) -> App
    ) async {
        let conformance = Conformance()
        let report = await conformance.run(name) { _ in make(conformance) }
        let found = Set(report.findings.map(\.situation))
        that("no finding but the document's warnings \(warned.sorted())", found == warned, "\(report)")
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
