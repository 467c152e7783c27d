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
        .library(name: "LinuxRadio", targets: ["LinuxRadio"]),
        .library(name: "BeaconService", targets: ["BeaconService"]),
        .library(name: "BeaconDelivery", targets: ["BeaconDelivery"]),
        .library(name: "BeaconMQTT", targets: ["BeaconMQTT"]),
        .library(name: "CoreLocation", targets: ["CoreLocation"]),
        .library(name: "CoreBluetooth", targets: ["CoreBluetooth"]),
        .library(name: "KumulosSDK", targets: ["KumulosSDK"]),
        .library(name: "BeaconTestKit", targets: ["BeaconTestKit"]),
        .executable(name: "beacon", targets: ["BeaconCommand"]),
        .executable(name: "beacond", targets: ["BeaconDaemon"]),
        .plugin(name: "CheckBeaconDelegates", targets: ["CheckBeaconDelegates"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        // Without its Foundation trait, since --exec hands over bytes.
        .package(url: "https://github.com/swiftlang/swift-subprocess", from: "1.0.2", traits: []),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-system", from: "1.8.1"),
        // For BeaconDelivery. SwiftPM builds of a package what a product needs: `beacon` and the faces need none of these.
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        // For beacond: its configuration, and how it lives and ends.
        .package(url: "https://github.com/apple/swift-configuration", from: "1.4.0", traits: []),
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        // For tests of BeaconDelivery alone.
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
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
        .target(
            name: "LinuxRadio", dependencies: ["BeaconModel", "BeaconRadio", "CBluetooth", "CSystemBus"],
            swiftSettings: habits),
        .target(name: "CBluetooth"),
        // The message bus, by a library that is opened at run time.
        .target(name: "CSystemBus", linkerSettings: [.linkedLibrary("dl", .when(platforms: [.linux]))]),

        // Floor 2: programs that are run for events, by the user's own rules.
        .target(
            name: "BeaconPrograms",
            dependencies: [
                .product(name: "Subprocess", package: "swift-subprocess"),
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            swiftSettings: habits
        ),

        // Floor 4: where radio and engine meet.
        .target(
            name: "BeaconService",
            dependencies: [
                "BeaconModel", "BeaconRadio", "BeaconEngine", "LinuxRadio",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: habits
        ),

        // Floor 4: notifications to backends. From BeaconService it takes the events of a session, which its policy reads.
        .target(
            name: "BeaconDelivery",
            dependencies: [
                "BeaconModel", "BeaconRadio", "BeaconEngine", "BeaconService",
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Metrics", package: "swift-metrics"),
            ],
            swiftSettings: habits
        ),

        // Floor 4: a broker as a destination. It is a room of its own, so that who delivers by HTTP needs no libmosquitto.
        .target(
            name: "BeaconMQTT",
            dependencies: [
                "BeaconRadio", "BeaconModel", "BeaconEngine", "BeaconService", "BeaconDelivery", "CMosquitto",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: habits
        ),
        .systemLibrary(name: "CMosquitto", pkgConfig: "libmosquitto", providers: [.apt(["libmosquitto-dev"])]),

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
                "BeaconModel", "BeaconRadio", "BeaconEngine", "BeaconService", "LinuxRadio", "BeaconPrograms",
                "CTerminal",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: habits
        ),
        .target(name: "CTerminal"),

        // Floor 5: the inside of the daemon.
        .target(
            name: "BeaconGateway",
            dependencies: [
                "BeaconModel", "BeaconRadio", "LinuxRadio", "BeaconEngine", "BeaconService", "BeaconDelivery",
                "BeaconMQTT",
                "BeaconPrograms", "CFileUser",
                .product(name: "Configuration", package: "swift-configuration"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
                .product(name: "Yams", package: "Yams"),
            ],
            swiftSettings: habits
        ),
        .target(name: "CFileUser"),

        // Floor 6: the daemon.
        .executableTarget(
            name: "BeaconDaemon",
            dependencies: [
                "BeaconModel", "BeaconRadio", "BeaconGateway", "BeaconService", "BeaconDelivery", "CTerminal",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ],
            swiftSettings: habits
        ),

        // Floor 6: Kumulos' names.
        .target(
            name: "KumulosSDK",
            dependencies: [
                "CoreLocation", "BeaconDelivery", "BeaconEngine", "BeaconModel", "BeaconRadio", "BeaconService",
                .product(name: "Logging", package: "swift-log"),
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
        .testTarget(name: "BeaconProgramsTests", dependencies: ["BeaconPrograms"], swiftSettings: habits),
        .testTarget(name: "BeaconEngineTests", dependencies: ["BeaconEngine", "BeaconModel"], swiftSettings: habits),
        .testTarget(name: "BeaconRadioTests", dependencies: ["BeaconRadio", "BeaconModel"], swiftSettings: habits),
        .testTarget(
            name: "LinuxRadioTests", dependencies: ["LinuxRadio", "BeaconRadio", "BeaconModel", "CBluetooth"],
            swiftSettings: habits),
        .testTarget(
            name: "BeaconServiceTests",
            dependencies: ["BeaconService", "BeaconEngine", "BeaconModel", "BeaconRadio", "LinuxRadio"],
            swiftSettings: habits),
        .testTarget(
            name: "BeaconMQTTTests",
            dependencies: [
                "BeaconRadio", "BeaconMQTT", "BeaconDelivery", "BeaconEngine", "BeaconModel", "BeaconService",
                .product(name: "Logging", package: "swift-log"),
            ],
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
            name: "KumulosSDKTests",
            dependencies: [
                "KumulosSDK", "CoreLocation", "BeaconDelivery", "BeaconRadio", "BeaconService",
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
            ],
            swiftSettings: habits),
        .testTarget(
            name: "BeaconDeliveryTests",
            dependencies: [
                "BeaconRadio", "BeaconDelivery", "BeaconEngine", "BeaconModel", "BeaconService", "DeliveryWorker",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "HummingbirdTLS", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "MetricsTestKit", package: "swift-metrics"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "Subprocess", package: "swift-subprocess"),
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            swiftSettings: habits
        ),
        // What the tests of BeaconDelivery kill: it puts notifications into an outbox and delivers them.
        .executableTarget(
            name: "DeliveryWorker",
            dependencies: [
                "BeaconDelivery", "BeaconEngine", "BeaconModel", .product(name: "Logging", package: "swift-log"),
            ],
            path: "Tests/DeliveryWorker", swiftSettings: habits
        ),
        .testTarget(
            name: "BeaconTestKitTests", dependencies: ["BeaconTestKit", "CoreLocation", "CoreBluetooth"],
            swiftSettings: oldForms),
        .testTarget(
            name: "BeaconGatewayTests",
            dependencies: [
                "BeaconGateway", "BeaconModel", "BeaconRadio", "BeaconEngine", "BeaconService", "BeaconDelivery",
                "BeaconPrograms",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: habits),
        .testTarget(
            name: "BeaconDaemonTests",
            dependencies: [
                "BeaconDaemon", "BeaconRadio", "BeaconService", "LaunchedApp",
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "Subprocess", package: "swift-subprocess"),
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            swiftSettings: habits
        ),
        // An app on Apple's names, for the test that beacond starts it.
        .executableTarget(
            name: "LaunchedApp", dependencies: ["CoreLocation"], path: "Tests/LaunchedApp", swiftSettings: habits),
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
