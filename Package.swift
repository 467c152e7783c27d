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

/// For tests of Apple's old forms, which are to warn those who use them.
let oldForms: [SwiftSetting] = habits + [.treatWarning("DeprecatedDeclaration", as: .warning)]

let package = Package(
    name: "swift-beacon",
    products: [
        .library(name: "BeaconModel", targets: ["BeaconModel"]),
        .library(name: "BeaconRadio", targets: ["BeaconRadio"]),
        .library(name: "BeaconEngine", targets: ["BeaconEngine"]),
        .library(name: "BeaconService", targets: ["BeaconService"]),
        .library(name: "CoreLocation", targets: ["CoreLocation"]),
        .library(name: "CoreBluetooth", targets: ["CoreBluetooth"]),
        .library(name: "KumulosSDK", targets: ["KumulosSDK"]),
        .library(name: "BeaconTestKit", targets: ["BeaconTestKit"]),
        .executable(name: "beacon", targets: ["BeaconCommand"]),
        .plugin(name: "CheckBeaconDelegates", targets: ["CheckBeaconDelegates"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        // Without its Foundation trait, since --exec hands over bytes.
        .package(url: "https://github.com/swiftlang/swift-subprocess", from: "1.0.2", traits: []),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-system", from: "1.8.1"),
    ],
    targets: [
        // Floor 1: what is on the air. Depends on nothing, not even Foundation.
        // Rounding is a call into the mathematics library on processors without an instruction for it, and a program
        // that imports nothing else would not be linked with it.
        .target(
            name: "BeaconModel", swiftSettings: habits,
            linkerSettings: [.linkedLibrary("m", .when(platforms: [.linux]))]),

        // Floor 2: where adverts come from and what they mean. The two do not know each other.
        .target(
            name: "BeaconRadio",
            dependencies: ["BeaconModel", "CZlib"],
            resources: [.embedInCode("Simulation/Scenarios")],
            swiftSettings: habits
        ),
        .target(name: "BeaconEngine", dependencies: ["BeaconModel"], swiftSettings: habits),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),

        // Floor 3: real radios. System calls and the kernel's structures are in C, the rest in Swift.
        .target(name: "LinuxRadio", dependencies: ["BeaconModel", "BeaconRadio", "CBluetooth"], swiftSettings: habits),
        .target(name: "CBluetooth"),

        // Floor 4: where radio and engine meet.
        .target(
            name: "BeaconService",
            dependencies: [
                "BeaconModel", "BeaconRadio", "BeaconEngine", "LinuxRadio",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: habits
        ),

        // Floor 5: Apple's names.
        .target(
            name: "CoreLocation",
            dependencies: ["BeaconModel", "BeaconEngine", "BeaconRadio", "BeaconService"],
            swiftSettings: habits
        ),
        .target(
            name: "CoreBluetooth",
            dependencies: [
                "BeaconModel", "BeaconRadio", "BeaconService", .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: habits
        ),

        // Floor 6: the command line.
        .executableTarget(
            name: "BeaconCommand",
            dependencies: [
                "BeaconModel", "BeaconRadio", "BeaconEngine", "BeaconService", "LinuxRadio", "CTerminal",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Subprocess", package: "swift-subprocess"),
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            swiftSettings: habits
        ),
        .target(name: "CTerminal"),

        // Floor 6: Kumulos' names.
        .target(
            name: "KumulosSDK",
            dependencies: [
                "BeaconRadio", "CoreLocation", "BeaconService", .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: habits
        ),

        // Floor 6: for users' own tests of code on Apple's names.
        .target(
            name: "BeaconTestKit",
            dependencies: ["BeaconModel", "BeaconRadio", "BeaconService", "CoreLocation"],
            swiftSettings: habits
        ),

        // Beside the house: a check of users' sources. It builds with nothing but the compiler.
        .target(name: "DelegateCheck", swiftSettings: habits),
        .executableTarget(name: "DelegateCheckCommand", dependencies: ["DelegateCheck"], swiftSettings: habits),
        .plugin(
            name: "CheckBeaconDelegates",
            capability: .command(
                intent: .custom(
                    verb: "check-beacon-delegates",
                    description: "Find beacon code that compiles for Linux and is then never called")),
            dependencies: ["DelegateCheckCommand"]
        ),

        .testTarget(
            name: "DelegateCheckTests", dependencies: ["DelegateCheck"], exclude: ["Plugin"], swiftSettings: habits),
        .testTarget(name: "BeaconModelTests", dependencies: ["BeaconModel"], swiftSettings: habits),
        .testTarget(name: "BeaconEngineTests", dependencies: ["BeaconEngine", "BeaconModel"], swiftSettings: habits),
        .testTarget(name: "BeaconRadioTests", dependencies: ["BeaconRadio", "BeaconModel"], swiftSettings: habits),
        .testTarget(
            name: "LinuxRadioTests", dependencies: ["LinuxRadio", "BeaconRadio", "BeaconModel"], swiftSettings: habits),
        .testTarget(
            name: "BeaconServiceTests", dependencies: ["BeaconService", "BeaconEngine", "BeaconModel", "BeaconRadio"],
            swiftSettings: habits),
        .testTarget(
            name: "CoreLocationTests",
            dependencies: ["CoreLocation", "BeaconEngine", "BeaconModel", "BeaconRadio", "BeaconService"],
            swiftSettings: oldForms),
        .testTarget(
            name: "CoreBluetoothTests",
            dependencies: [
                "CoreBluetooth", "CoreLocation", "BeaconModel", "BeaconRadio", "BeaconService",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: oldForms
        ),
        .testTarget(
            name: "KumulosSDKTests", dependencies: ["KumulosSDK", "CoreLocation", "BeaconRadio", "BeaconService"],
            swiftSettings: habits),
        .testTarget(
            name: "BeaconTestKitTests", dependencies: ["BeaconTestKit", "CoreLocation", "CoreBluetooth"],
            swiftSettings: oldForms),
        .testTarget(
            name: "BeaconCommandTests",
            dependencies: [
                "BeaconCommand",
                .product(name: "Subprocess", package: "swift-subprocess"),
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            swiftSettings: habits
        ),
    ],
    swiftLanguageModes: [.v6]
)
