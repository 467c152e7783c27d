import BeaconTestKit
import CoreLocation

/// Where the apps under test notify their users and servers.
struct Outlet: Sendable {
    let conformance: Conformance

    func notify(_ text: String) { conformance.note(text) }
    func display(_ text: String) { conformance.show(text) }
}

/// An app after a public report. With `isFixed`, it is its corrected twin.
@MainActor
struct SampleApp {
    /// The fault, for the test's name.
    let name: String
    /// The beginnings of the findings that must appear, by situation.
    var findings: [Int: String] = [:]
    /// The beginnings of the remarks that must appear, by situation.
    var remarks: [Int: String] = [:]
    /// True if another sample app has the same twin, which need not run again.
    var sharesTwin = false
    var options = Conformance.Options()
    var scene: (@MainActor (Any, Bool) -> Void)?
    let make: @MainActor (Outlet, Conformance.Launch, _ isFixed: Bool) -> Any

    /// The situations that must find the fault.
    var situations: Set<Int> { Set(findings.keys).union(remarks.keys) }

    /// Runs the check on the app or its twin.
    func run(isFixed: Bool, in situations: Set<Int> = Set(1...40)) async -> Conformance.Report {
        let conformance = Conformance()
        var options = options
        options.situations = situations
        let outlet = Outlet(conformance: conformance)
        return await conformance.run(name, options: options, scene: scene) { make(outlet, $0, isFixed) }
    }
}

/// The region of most sample apps.
var shopRegion: CLBeaconRegion { CLBeaconRegion(uuid: museum, identifier: "shop") }

/// The UUID of the sample apps.
let museum = UUID(
    uuid: (0xE2, 0xC5, 0x6D, 0xB5, 0xDF, 0xFB, 0x48, 0xD2, 0xB0, 0x60, 0xD0, 0xF5, 0xA7, 0x10, 0x96, 0xE0))
