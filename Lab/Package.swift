// swift-tools-version: 6.2
import PackageDescription

let habits: [SwiftSetting] = [
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .treatAllWarnings(as: .error),
]

/// The modules of the main package, which it offers only to this repository.
let modules = Target.Dependency.product(name: "RepositoryModules", package: "swift-beacon")

/// The lab of swift-beacon: virtual Bluetooth controllers in the simulated air, for a real kernel in a virtual machine.
/// It is a separate package so that dependents of swift-beacon do not build it.
let package = Package(
    name: "swift-beacon-lab",
    dependencies: [
        .package(name: "swift-beacon", path: "..", traits: ["CommandLine"]),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    ],
    targets: [
        // An HCI controller as a state machine: bytes and time in, bytes and adverts out.
        .target(
            name: "VirtualController",
            dependencies: [modules],
            swiftSettings: habits
        ),

        // Controllers that hear each other, scenarios and floods, and the text commands of the guest.
        .target(
            name: "LabAir",
            dependencies: [
                "VirtualController",
                modules,
            ],
            swiftSettings: habits
        ),

        // The air as a process on the host, behind sockets that the virtual machine connects to.
        .executableTarget(
            name: "AirServer",
            dependencies: [
                "LabAir", "VirtualController",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                modules,
            ],
            swiftSettings: habits
        ),

        // A comparison of two runs of one scenario.
        .target(name: "RunComparison", swiftSettings: habits),
        .executableTarget(
            name: "CompareRuns",
            dependencies: ["RunComparison", .product(name: "ArgumentParser", package: "swift-argument-parser")],
            swiftSettings: habits
        ),

        // An app with Apple's API, written as for iOS: a beacon on one adapter, and an app that ranges and monitors it
        // on another.
        .executableTarget(
            name: "AppleFace",
            dependencies: [
                .product(name: "CoreBluetooth", package: "swift-beacon"),
                .product(name: "CoreLocation", package: "swift-beacon"),
            ],
            swiftSettings: habits
        ),

        .testTarget(name: "RunComparisonTests", dependencies: ["RunComparison"], swiftSettings: habits),
        .testTarget(
            name: "VirtualControllerTests",
            dependencies: ["VirtualController", modules],
            swiftSettings: habits),
        .testTarget(
            name: "LabAirTests",
            dependencies: [
                "LabAir", "VirtualController",
                modules,
            ],
            swiftSettings: habits),
    ],
    swiftLanguageModes: [.v6]
)
