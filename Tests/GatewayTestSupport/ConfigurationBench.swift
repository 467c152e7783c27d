import BeaconConfiguration
package import BeaconGateway
import Foundation

/// Checks configurations in the form that users write.
package enum ConfigurationBench {
    package static let uuid = "e2c56db5-dffb-48d2-b060-d0f5a71096e0"

    /// The keys that every configuration needs, for tests of other keys.
    package static let start = """
        sources: [auto]
        regions: [{ name: hall, uuid: \(uuid) }]

        """

    package static func check(_ text: String, _ environment: [String: String] = [:]) -> GatewayConfiguration.Checked {
        GatewayConfiguration.check(text, folder: URL(fileURLWithPath: "/etc/beacons"), environment: environment)
    }

    /// Returns the diagnostics in printed form.
    package static func lines(_ text: String, _ environment: [String: String] = [:]) -> [String] {
        check(text, environment).diagnostics.map { $0.text(file: "f") }
    }
}
