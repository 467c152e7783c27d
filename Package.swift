// swift-tools-version: 6.2
import PackageDescription

/// Habits of this package, the same for each target: what is imported stays inside unless said otherwise, existentials
/// are visible, members come only from modules that a file imports, and a warning stops the build.
let habits: [SwiftSetting] = [
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .treatAllWarnings(as: .error),
]

let package = Package(
    name: "swift-beacon",
    products: [
        .library(name: "BeaconModel", targets: ["BeaconModel"]),
        .library(name: "BeaconRadio", targets: ["BeaconRadio"]),
        .library(name: "BeaconEngine", targets: ["BeaconEngine"]),
    ],
    targets: [
        // Floor 1: what is on the air. Depends on nothing, not even Foundation.
        .target(name: "BeaconModel", swiftSettings: habits),

        // Floor 2: where adverts come from and what they mean. The two do not know each other.
        .target(
            name: "BeaconRadio",
            dependencies: ["BeaconModel", "CZlib"],
            resources: [.embedInCode("Simulation/Scenarios")],
            swiftSettings: habits
        ),
        .target(name: "BeaconEngine", dependencies: ["BeaconModel"], swiftSettings: habits),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),

        .testTarget(name: "BeaconModelTests", dependencies: ["BeaconModel"], swiftSettings: habits),
        .testTarget(name: "BeaconEngineTests", dependencies: ["BeaconEngine", "BeaconModel"], swiftSettings: habits),
        .testTarget(name: "BeaconRadioTests", dependencies: ["BeaconRadio", "BeaconModel"], swiftSettings: habits),
    ],
    swiftLanguageModes: [.v6]
)
