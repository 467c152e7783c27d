/// A module of Apple's systems that does not exist on Linux.
///
/// Only such a module becomes a condition `canImport(…)` in ported code, and the evaluation of conditions reads the
/// same table. So Linux compiles nothing in the condition, and a second round or run changes nothing there.
package struct AppleModule: Hashable, Sendable {
    /// The name.
    package let name: String

    /// Creates a module from its name; nil if Linux may have a module of this name.
    package init?(_ name: String) {
        guard Self.names.contains(name) else { return nil }
        self.name = name
    }

    /// The names of all of them, `Combine` included: for Linux, it is a product that the app may lack.
    package static let names = Set(
        String(decoding: PackageResources.AppleModules_txt, as: UTF8.self).split(whereSeparator: \.isWhitespace)
            .map(String.init))
}

/// The modules that exist on Linux.
package enum LinuxModules {
    /// Modules that exist on iOS and on Linux, including this package's.
    package static let shared: Set<String> = [
        "CoreBluetooth", "CoreFoundation", "CoreLocation", "Dispatch", "Foundation", "Observation", "Swift",
        "_Concurrency",
    ]

    /// Other modules that exist on Linux without a further dependency: of Swift, of its C library and of this package.
    package static let others: Set<String> = [
        "BeaconDelivery", "BeaconEventStore", "BeaconMQTT", "BeaconMonitoring", "BeaconTestKit", "Builtin", "CRT",
        "Cxx", "CxxStdlib", "Distributed", "FoundationEssentials", "FoundationInternationalization",
        "FoundationNetworking", "FoundationXML", "Glibc", "KumulosSDK", "Musl", "RegexBuilder", "SwiftOnoneSupport",
        "Synchronization", "Testing", "XCTest", "_Differentiation", "_RegexParser", "_StringProcessing",
    ]
}
