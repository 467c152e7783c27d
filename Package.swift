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

/// A product of another package that is neither resolved nor built where the trait is off, and Gateway, which has all.
///
/// Gateway enables no other: SwiftPM gives the traits that are on to the compiler in an order that is another each
/// time, and compiles everything anew where it is. With one there is no order.
func product(_ name: String, _ package: String, trait: String) -> Target.Dependency {
    .product(name: name, package: package, condition: .when(traits: [trait, "Gateway"]))
}

/// A module in Swift, with the package's habits.
func module(
    _ name: String, dependencies: [Target.Dependency] = [], path: String? = nil, resources: [Resource]? = nil,
    linkerSettings: [LinkerSetting]? = nil
) -> Target {
    .target(
        name: name, dependencies: dependencies, path: path, resources: resources, swiftSettings: habits,
        linkerSettings: linkerSettings)
}

/// A program, with the package's habits.
func program(_ name: String, dependencies: [Target.Dependency], path: String? = nil) -> Target {
    .executableTarget(name: name, dependencies: dependencies, path: path, swiftSettings: habits)
}

/// Tests, with the package's habits unless they need other settings.
func tests(
    _ name: String, dependencies: [Target.Dependency], swiftSettings: [SwiftSetting] = habits
) -> Target {
    .testTarget(name: name, dependencies: dependencies, swiftSettings: swiftSettings)
}

let logging = Target.Dependency.product(name: "Logging", package: "swift-log")

let package = Package(
    name: "swift-beacon",
    products: [
        // For applications: Apple's and Kumulos' names, and tests of code that uses them.
        .library(name: "CoreLocation", targets: ["CoreLocation"]),
        .library(name: "CoreBluetooth", targets: ["CoreBluetooth"]),
        .library(name: "KumulosSDK", targets: ["KumulosSDK"]),
        .library(name: "Combine", targets: ["BeaconCombine"]),
        .library(name: "BeaconTestKit", targets: ["BeaconTestKit"]),
        // For programs of one's own around the same core.
        .library(
            name: "BeaconMonitoring", targets: ["BeaconMonitoring", "BeaconEngine", "BeaconRadio", "BeaconModel"]),
        .library(name: "BeaconDelivery", targets: ["BeaconDelivery", "BeaconEventStore", "BeaconModel"]),
        .library(name: "BeaconEventStore", targets: ["BeaconEventStore", "BeaconModel"]),
        .library(name: "BeaconMQTT", targets: ["BeaconMQTT"]),
        // For the packages beside this one in its repository: Benchmarks, Fuzz and Lab. No promise is made of it.
        .library(
            name: "RepositoryModules",
            targets: [
                "BeaconModel", "BeaconSupport", "BeaconEngine", "BeaconRadio", "BeaconCapture", "BeaconReceivers",
                "BeaconSimulation", "LinuxRadio", "BeaconMonitoring",
            ]),
        .executable(name: "beacon", targets: ["BeaconCommand"]),
        .executable(name: "beacond", targets: ["BeaconDaemon"]),
    ],
    // None is on by default: Apple's names need swift-log only. All commands in a checkout pass `--traits Gateway`.
    traits: [
        .trait(name: "Combine", description: "Combine, over OpenCombine."),
        .trait(name: "CommandLine", description: "The command beacon."),
        .trait(
            name: "Delivery",
            description: "BeaconDelivery, BeaconMQTT and KumulosSDK, with HTTP, SQLite and cryptography."),
        .trait(name: "Gateway", description: "The daemon beacond, with a web server and YAML, and all of the others."),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        // Without its Foundation trait, since --exec hands over bytes.
        .package(url: "https://github.com/swiftlang/swift-subprocess", from: "1.0.2", traits: []),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-system", from: "1.8.1"),
        .package(url: "https://github.com/OpenCombine/OpenCombine", from: "0.14.0"),
        // For BeaconDelivery. SwiftPM builds of a package what a product needs: `beacon` and the faces need none of
        // these.
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        // For beacond: its configuration, and how it lives and ends.
        .package(url: "https://github.com/apple/swift-configuration", from: "1.4.0", traits: []),
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        // For beacond's console and interface.
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1", traits: []),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0", traits: []),
        .package(url: "https://github.com/apple/swift-nio-extras", from: "1.35.2"),
    ],
    targets: [
        // Layer 1: the vocabulary, which depends on nothing, not even Foundation.
        // Rounding is a call into the mathematics library on processors without an instruction for it, and a program
        // that imports nothing else would not be linked with it.
        module("BeaconModel", linkerSettings: [.linkedLibrary("m", .when(platforms: [.linux]))]),
        // Layer 1: the system's C library, whichever it is.
        module("CLibrary"),
        // Layer 1: the loader of libraries that are opened at run time.
        .target(name: "CDynamicLibrary", linkerSettings: [.linkedLibrary("dl", .when(platforms: [.linux]))]),
        // Layer 1: locks, signals, files: small helpers that need the system only. For this package alone.
        module("BeaconSupport", dependencies: ["CLibrary"]),

        // Layer 2: the meaning of adverts, the ports of their sources, and modules that know nothing of radios.
        module("BeaconEngine", dependencies: ["BeaconModel"]),
        module("BeaconRadio", dependencies: ["CLibrary", "BeaconModel", "BeaconSupport", "CPoll"]),
        // What Swift's view of the C library lacks to wait for descriptors.
        .target(name: "CPoll"),
        // Events and the state that they lead to, in one file.
        module(
            "BeaconEventStore",
            dependencies: [
                "CLibrary", "BeaconModel", "BeaconSupport",
                product("GRDB", "GRDB.swift", trait: "Delivery"),
                logging,
                product("Metrics", "swift-metrics", trait: "Delivery"),
            ]
        ),
        // A connection to a broker, by a library that is opened at run time.
        module("BeaconBroker", dependencies: ["CLibrary", "BeaconSupport", "CMosquitto", logging]),
        // A connection to NATS, by a library that is opened at run time.
        module("BeaconNATS", dependencies: ["CLibrary", "BeaconSupport", "CNATS"]),
        .target(name: "CNATS", dependencies: ["CDynamicLibrary"]),
        // Noise, for connections that are encrypted by a key that both sides know, with OpenSSL's primitives, which are
        // opened at run time too.
        module("BeaconNoise", dependencies: ["BeaconSupport", "CCrypto"]),
        .target(name: "CCrypto", dependencies: ["CDynamicLibrary"]),
        .target(name: "CMosquitto", dependencies: ["CDynamicLibrary"]),
        module("BeaconApplications", dependencies: ["CLibrary", "BeaconModel", "BeaconSupport"]),
        module("BeaconPrograms", dependencies: ["CLibrary", "BeaconSupport", "CProcess"]),
        .target(name: "CProcess"),
        // Standard output and standard error, for programs that people run in a terminal.
        module("BeaconTerminal", dependencies: ["CLibrary", "BeaconSupport", "CTerminal"]),
        .target(name: "CTerminal"),

        // Layer 3: sources of adverts. System calls and the kernel's structures are in C, the rest in Swift.
        module("BeaconCapture", dependencies: ["CLibrary", "BeaconModel", "BeaconRadio", "CZlib"]),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        module(
            "BeaconSimulation",
            dependencies: ["CLibrary", "BeaconModel", "BeaconSupport", "BeaconEngine", "BeaconRadio"],
            resources: [.embedInCode("Scenarios")]),
        module(
            "LinuxRadio",
            dependencies: [
                "CLibrary", "BeaconModel", "BeaconSupport", "BeaconRadio", "CBluetooth", "CPoll", "CSystemBus",
            ]),
        .target(name: "CBluetooth"),
        // Receivers in the network: their messages, and the drivers that get them.
        module(
            "BeaconReceivers",
            dependencies: ["CLibrary", "BeaconModel", "BeaconSupport", "BeaconRadio", "BeaconBroker", "BeaconNoise"]),
        // The message bus, by a library that is opened at run time.
        .target(name: "CSystemBus", dependencies: ["CDynamicLibrary"]),
        // Layer 3: notifications, what they are of, and destinations as consumers of the event store.
        module(
            "BeaconDelivery",
            dependencies: [
                "CLibrary", "BeaconModel", "BeaconSupport", "BeaconEngine", "BeaconEventStore",
                product("AsyncHTTPClient", "async-http-client", trait: "Delivery"),
                product("NIOCore", "swift-nio", trait: "Delivery"),
                product("NIOPosix", "swift-nio", trait: "Delivery"),
                product("NIOHTTP1", "swift-nio", trait: "Delivery"),
                product("NIOSSL", "swift-nio-ssl", trait: "Delivery"),
                logging,
                product("Metrics", "swift-metrics", trait: "Delivery"),
            ]
        ),
        // Layer 4: a broker as a destination.
        module(
            "BeaconMQTT",
            dependencies: [
                "BeaconModel", "BeaconSupport", "BeaconBroker", "BeaconDelivery", "BeaconEventStore",
                logging,
            ]
        ),

        // Layer 4: sources and engine meet.
        module(
            "BeaconMonitoring",
            dependencies: [
                "CLibrary", "BeaconModel", "BeaconSupport", "BeaconEngine", "BeaconRadio", "BeaconApplications",
                "BeaconCapture", "BeaconReceivers", "BeaconSimulation", "LinuxRadio",
                logging,
            ]
        ),
        // Layer 4: this machine as a receiver of others, by a broker or as a Bluetooth proxy of ESPHome.
        module(
            "BeaconRelay",
            dependencies: [
                "CLibrary", "BeaconModel", "BeaconSupport", "BeaconRadio", "BeaconApplications", "BeaconBroker",
                "BeaconReceivers",
                logging,
            ]
        ),

        // Layer 5: Apple's names. An import of a part, such as CoreLocation.CLRegion, names a Clang submodule. The map
        // of these submodules makes the compiler load the Swift module of the same name.
        .systemLibrary(name: "CoreLocationParts"),
        .systemLibrary(name: "CoreBluetoothParts"),
        module(
            "CoreLocation",
            dependencies: [
                "BeaconModel", "BeaconSupport", "BeaconEngine", "BeaconRadio", "BeaconApplications", "BeaconMonitoring",
                "CoreLocationParts",
                // Apple's Foundation brings Combine with it, on which code relies.
                .target(name: "BeaconCombine", condition: .when(traits: ["Combine"])),
            ]
        ),
        module(
            "CoreBluetooth",
            dependencies: [
                "BeaconModel", "BeaconSupport", "BeaconRadio", "BeaconApplications", "BeaconMonitoring",
                "CoreBluetoothParts",
                logging,
            ]
        ),

        // Beside the layers: Apple's Combine, for apps that are written with it, which call the module by that name
        // (moduleAliases). Here it has another one: packages that find a module Combine, such as GRDB, take it for
        // Apple's.
        module("BeaconCombine", dependencies: [product("OpenCombine", "OpenCombine", trait: "Combine")]),

        // Layer 4: the grammar of a configuration: a document, its keys and their faults.
        module(
            "BeaconConfiguration",
            dependencies: [
                "CLibrary", "BeaconModel", "BeaconSupport", "BeaconDelivery", "BeaconPrograms",
                product("Configuration", "swift-configuration", trait: "Gateway"),
                product("Yams", "Yams", trait: "Gateway"),
            ]
        ),
        // Layer 5: what several machines meet by, and how they share the work.
        module(
            "BeaconFleet",
            dependencies: [
                "BeaconModel", "BeaconSupport", "BeaconEngine", "BeaconRadio", "BeaconBroker", "BeaconNATS",
                "BeaconReceivers", "BeaconMonitoring",
            ]
        ),
        // Layer 6: the inside of the daemon.
        module(
            "BeaconGateway",
            dependencies: [
                "CLibrary", "CZlib", "BeaconModel", "BeaconSupport", "BeaconRadio", "LinuxRadio", "BeaconEngine",
                "BeaconApplications", "BeaconBroker", "BeaconCapture", "BeaconReceivers", "BeaconConfiguration",
                "BeaconMonitoring", "BeaconRelay", "BeaconFleet", "BeaconDelivery", "BeaconEventStore", "BeaconMQTT",
                "BeaconNATS", "BeaconPrograms", "BeaconSimulation",
                product("NIOCore", "swift-nio", trait: "Gateway"),
                product("NIOSSL", "swift-nio-ssl", trait: "Gateway"),
                logging,
                product("ServiceLifecycle", "swift-service-lifecycle", trait: "Gateway"),
                product("Yams", "Yams", trait: "Gateway"),
            ]
        ),
        // Layer 7: the console in the browser, and the interface by HTTP.
        module(
            "BeaconConsole",
            dependencies: [
                "CConsole", "CLibrary", "BeaconModel", "BeaconSupport", "BeaconEngine", "BeaconConfiguration",
                "BeaconDelivery", "BeaconEventStore", "BeaconFleet", "BeaconMonitoring", "BeaconReceivers",
                "BeaconSimulation", "BeaconGateway",
                "LinuxRadio",
                product("AsyncHTTPClient", "async-http-client", trait: "Gateway"),
                product("CoreMetrics", "swift-metrics", trait: "Gateway"),
                product("HTTPTypes", "swift-http-types", trait: "Gateway"),
                product("Hummingbird", "hummingbird", trait: "Gateway"),
                product("HummingbirdCore", "hummingbird", trait: "Gateway"),
                product("HummingbirdTLS", "hummingbird", trait: "Gateway"),
                product("NIOCore", "swift-nio", trait: "Gateway"),
                product("NIOHTTP1", "swift-nio", trait: "Gateway"),
                product("NIOPosix", "swift-nio", trait: "Gateway"),
                product("NIOHTTPTypes", "swift-nio-extras", trait: "Gateway"),
                product("NIOSSL", "swift-nio-ssl", trait: "Gateway"),
                logging,
                product("ServiceLifecycle", "swift-service-lifecycle", trait: "Gateway"),
            ]
        ),
        // The files of the console, which lie in the program.
        .target(name: "CConsole", exclude: ["Files"]),

        // Layer 6: the command line.
        program(
            "BeaconCommand",
            dependencies: [
                "CLibrary", "BeaconModel", "BeaconSupport", "BeaconEngine", "BeaconRadio", "BeaconApplications",
                "BeaconPrograms",
                "BeaconTerminal", "BeaconCapture", "BeaconSimulation", "LinuxRadio", "BeaconMonitoring", "BeaconRelay",
                product("ArgumentParser", "swift-argument-parser", trait: "CommandLine"),
            ]
        ),

        // Layer 8: the daemon.
        program(
            "BeaconDaemon",
            dependencies: [
                "CLibrary", "BeaconModel", "BeaconSupport", "BeaconRadio", "BeaconConfiguration",
                "BeaconMonitoring", "BeaconRelay", "BeaconFleet", "BeaconDelivery", "BeaconMQTT", "BeaconEventStore",
                "BeaconGateway", "BeaconConsole", "BeaconPrograms", "BeaconTerminal",
                product("ArgumentParser", "swift-argument-parser", trait: "Gateway"),
                product("CoreMetrics", "swift-metrics", trait: "Gateway"),
                logging,
                product("ServiceLifecycle", "swift-service-lifecycle", trait: "Gateway"),
                product("UnixSignals", "swift-service-lifecycle", trait: "Gateway"),
            ]
        ),

        // Layer 6: Kumulos' names.
        module(
            "KumulosSDK",
            dependencies: [
                "CLibrary", "CoreLocation", "BeaconDelivery", "BeaconEventStore", "BeaconModel", "BeaconSupport",
                "BeaconApplications", "BeaconMonitoring",
                logging,
            ]
        ),

        // Layer 6: for users' own tests of code on Apple's names.
        module(
            "BeaconTestKit",
            dependencies: [
                "BeaconModel", "BeaconSupport", "BeaconRadio", "BeaconSimulation", "BeaconApplications",
                "BeaconMonitoring", "CoreLocation", "CCrashReport", "CProcessClock", "CTaskJobs",
            ]
        ),
        // Its functions take the place of the C library's in each program that it is linked into.
        .target(name: "CProcessClock", linkerSettings: [.linkedLibrary("dl", .when(platforms: [.linux]))]),
        .target(name: "CCrashReport"),
        .target(name: "CTaskJobs"),

        // For tests: bounds those with helpers (servers, brokers, buses, processes), and ends the helpers with them.
        module("TestSupport", dependencies: ["CTestSupport", "BeaconSupport", logging], path: "Tests/TestSupport"),
        .target(name: "CTestSupport", path: "Tests/CTestSupport"),
        module(
            "TestServer",
            dependencies: [
                "BeaconSupport",
                product("NIOCore", "swift-nio", trait: "Delivery"),
                product("NIOHTTP1", "swift-nio", trait: "Delivery"),
                product("NIOPosix", "swift-nio", trait: "Delivery"),
                product("NIOSSL", "swift-nio-ssl", trait: "Delivery"),
            ],
            path: "Tests/TestServer"
        ),
        tests("TestSupportTests", dependencies: ["TestSupport", "BeaconSupport"]),

        tests("BeaconModelTests", dependencies: ["BeaconModel", "BeaconSupport", "TestSupport"]),
        tests("BeaconSupportTests", dependencies: ["BeaconSupport"]),
        tests("CDynamicLibraryTests", dependencies: ["CDynamicLibrary", "CLibrary"]),
        tests("BeaconProgramsTests", dependencies: ["BeaconPrograms", "BeaconSupport", "TestSupport"]),
        tests("BeaconEngineTests", dependencies: ["BeaconEngine", "BeaconModel", "BeaconSupport"]),
        tests(
            "BeaconApplicationsTests",
            dependencies: [
                "BeaconApplications", "BeaconMonitoring", "BeaconEngine", "BeaconRadio", "BeaconModel", "BeaconSupport",
            ]),
        tests("BeaconRadioTests", dependencies: ["BeaconRadio", "BeaconModel", "BeaconSupport"]),
        tests("BeaconTerminalTests", dependencies: ["BeaconTerminal"]),
        tests("BeaconCaptureTests", dependencies: ["BeaconCapture", "BeaconRadio", "BeaconModel", "TestSupport"]),
        tests(
            "BeaconSimulationTests",
            dependencies: ["BeaconSimulation", "BeaconCapture", "BeaconRadio", "BeaconModel", "BeaconSupport"]),
        tests("BeaconNoiseTests", dependencies: ["BeaconNoise", "BeaconSupport"]),
        tests("BeaconNATSTests", dependencies: ["BeaconNATS", "BeaconSupport", "TestSupport"]),
        tests(
            "BeaconReceiversTests",
            dependencies: ["BeaconReceivers", "BeaconModel", "BeaconRadio", "BeaconSupport", "BeaconNoise"]),
        tests(
            "LinuxRadioTests",
            dependencies: [
                "LinuxRadio", "BeaconRadio", "BeaconModel", "BeaconSupport", "CBluetooth", "CPoll", "TestSupport",
            ]),
        tests(
            "BeaconMonitoringTests",
            dependencies: [
                "BeaconMonitoring", "BeaconEngine", "BeaconModel", "BeaconSupport", "BeaconRadio", "BeaconApplications",
                "BeaconCapture", "BeaconReceivers", "TestSupport",
            ]),
        tests("BeaconConfigurationTests", dependencies: ["BeaconConfiguration"]),
        tests(
            "BeaconRelayTests",
            dependencies: [
                "BeaconRelay", "BeaconMonitoring", "BeaconBroker", "BeaconModel", "BeaconRadio", "BeaconReceivers",
                "BeaconSupport", "TestSupport",
            ]),
        module(
            "BrokerTestSupport", dependencies: ["BeaconBroker", "BeaconSupport", "TestSupport"],
            path: "Tests/BrokerTestSupport"),
        tests(
            "BeaconBrokerTests", dependencies: ["BeaconBroker", "BeaconSupport", "BrokerTestSupport", "TestSupport"]),
        tests(
            "BeaconMQTTTests",
            dependencies: [
                "BeaconMQTT", "BeaconBroker", "BeaconDelivery", "BeaconEventStore", "BeaconModel", "BeaconSupport",
                "BrokerTestSupport", "TestSupport",
            ]),
        tests(
            "CoreLocationTests",
            dependencies: [
                "CoreLocation", "BeaconEngine", "BeaconModel", "BeaconSupport", "BeaconRadio", "BeaconApplications",
                "BeaconMonitoring",
            ],
            swiftSettings: oldForms),
        tests("BeaconCombineTests", dependencies: ["BeaconCombine", "CoreLocation", "BeaconTestKit", "BeaconSupport"]),
        tests(
            "CoreBluetoothTests",
            dependencies: [
                "CoreBluetooth", "CoreLocation", "BeaconModel", "BeaconSupport", "BeaconRadio", "BeaconApplications",
                "BeaconMonitoring",
                logging,
            ],
            swiftSettings: oldForms
        ),
        tests(
            "KumulosSDKTests",
            dependencies: [
                "KumulosSDK", "CoreLocation", "BeaconDelivery", "BeaconEventStore", "BeaconModel", "BeaconSupport",
                "BeaconRadio",
                "BeaconApplications", "BeaconMonitoring", "TestSupport", "TestServer",
            ]),
        tests(
            "BeaconDeliveryTests",
            dependencies: [
                "BeaconDelivery", "BeaconEventStore", "BeaconModel", "BeaconSupport", "DeliveryWorker", "TestSupport",
                "TestServer",
                product("AsyncHTTPClient", "async-http-client", trait: "Delivery"),
                logging,
                product("MetricsTestKit", "swift-metrics", trait: "Delivery"),
                product("NIOCore", "swift-nio", trait: "Delivery"),
                product("NIOPosix", "swift-nio", trait: "Delivery"),
                product("NIOSSL", "swift-nio-ssl", trait: "Delivery"),
                product("Subprocess", "swift-subprocess", trait: "CommandLine"),
                product("SystemPackage", "swift-system", trait: "CommandLine"),
            ]
        ),
        tests(
            "BeaconEventStoreTests",
            dependencies: [
                "BeaconEventStore", "BeaconModel", "BeaconSupport", "CLibrary", "TestSupport",
                product("GRDB", "GRDB.swift", trait: "Delivery"),
                logging,
                product("MetricsTestKit", "swift-metrics", trait: "Delivery"),
            ]),
        // What the tests of BeaconDelivery kill: it stores notifications and delivers them.
        program(
            "DeliveryWorker",
            dependencies: [
                "BeaconDelivery", "BeaconEventStore", "BeaconModel",
                logging,
            ],
            path: "Tests/DeliveryWorker"
        ),
        tests(
            "BeaconTestKitTests",
            dependencies: ["BeaconTestKit", "BeaconMonitoring", "BeaconSupport", "CoreLocation", "CoreBluetooth"],
            swiftSettings: oldForms),
        // These have the process for themselves, since they control its clock.
        tests(
            "ProcessClockTests",
            dependencies: ["BeaconTestKit", "BeaconCombine", "BeaconSupport", "CoreLocation"]),
        tests(
            "ConformanceTests",
            dependencies: ["BeaconTestKit", "BeaconCombine", "CoreLocation", "CoreBluetooth"]),
        // A gateway in a temporary folder, for the tests of the gateway, of the fleet and of the console.
        module(
            "GatewayTestSupport",
            dependencies: [
                "BeaconGateway", "BeaconConfiguration", "BeaconModel", "BeaconSupport", "BeaconRadio", "BeaconEngine",
                "BeaconMonitoring", "BeaconRelay", "BeaconDelivery", "BeaconEventStore", "TestSupport",
                product("CoreMetrics", "swift-metrics", trait: "Gateway"),
            ],
            path: "Tests/GatewayTestSupport"
        ),
        tests(
            "BeaconGatewayTests",
            dependencies: [
                "BeaconGateway", "BeaconConfiguration", "BeaconFleet", "BeaconModel", "BeaconSupport", "BeaconRadio",
                "BeaconEngine", "BeaconApplications", "BeaconBroker", "BeaconMonitoring", "BeaconReceivers",
                "BeaconRelay", "BeaconDelivery", "BeaconMQTT", "BeaconNATS", "BeaconSimulation", "BeaconEventStore",
                "BeaconPrograms", "GatewayTestSupport", "TestSupport",
                product("GRDB", "GRDB.swift", trait: "Gateway"),
                product("HTTPTypes", "swift-http-types", trait: "Gateway"),
                logging,
            ]),
        tests(
            "BeaconFleetTests",
            dependencies: [
                "BeaconFleet", "BeaconGateway", "BeaconModel", "BeaconSupport", "BeaconRadio", "BeaconEngine",
                "BeaconMonitoring", "BeaconDelivery", "BeaconEventStore", "GatewayTestSupport", "TestSupport",
                logging,
            ]),
        tests(
            "BeaconConsoleTests",
            dependencies: [
                "BeaconConsole", "BeaconGateway", "BeaconConfiguration", "BeaconModel", "BeaconSupport", "BeaconRadio",
                "BeaconEngine", "BeaconBroker", "BeaconMonitoring", "BeaconReceivers", "BeaconDelivery", "BeaconMQTT",
                "BeaconEventStore", "GatewayTestSupport", "TestSupport",
                product("CoreMetrics", "swift-metrics", trait: "Gateway"),
                product("HTTPTypes", "swift-http-types", trait: "Gateway"),
                product("Hummingbird", "hummingbird", trait: "Gateway"),
                product("NIOCore", "swift-nio", trait: "Gateway"),
                product("NIOEmbedded", "swift-nio", trait: "Gateway"),
                product("NIOHTTPTypes", "swift-nio-extras", trait: "Gateway"),
            ]),
        tests(
            "BeaconDaemonTests",
            dependencies: [
                "BeaconDaemon", "BeaconModel", "BeaconSupport", "BeaconRadio", "BeaconApplications", "BeaconMonitoring",
                "LaunchedApp", "TestSupport", "TestServer",
                product("Subprocess", "swift-subprocess", trait: "Gateway"),
                product("SystemPackage", "swift-system", trait: "Gateway"),
            ]
        ),
        // An app on Apple's names, for the test that beacond starts it.
        program("AskingApp", dependencies: ["CoreLocation"], path: "Tests/AskingApp"),
        program("LaunchedApp", dependencies: ["CoreLocation"], path: "Tests/LaunchedApp"),
        tests(
            "BeaconCommandTests",
            dependencies: [
                "BeaconCommand", "AskingApp", "TestSupport",
                product("Subprocess", "swift-subprocess", trait: "CommandLine"),
                product("SystemPackage", "swift-system", trait: "CommandLine"),
            ]
        ),
    ],
    swiftLanguageModes: [.v6]
)

extension Package {
    /// Removes the targets that need other packages than these, the products of such targets, and the other packages.
    func keepTargets(needing packages: Set<String>, except excluded: Set<String> = []) {
        // Without its trait, Apple's Core Location has no Combine.
        for target in targets where target.name == "CoreLocation" {
            target.dependencies.removeAll { if case .targetItem("BeaconCombine", _) = $0 { true } else { false } }
        }
        func isKept(_ target: Target) -> Bool {
            target.dependencies.allSatisfy { dependency in
                switch dependency {
                case .productItem(_, let package, _, _): package.map(packages.contains) ?? false
                case .targetItem(let name, _), .byNameItem(let name, _):
                    targets.first { $0.name == name }.map(isKept) ?? false
                @unknown default: false
                }
            }
        }
        let kept = targets.filter { isKept($0) && !excluded.contains($0.name) }
        let names = Set(kept.map(\.name))
        products = products.filter { product in
            switch product {
            case let library as Product.Library: names.isSuperset(of: library.targets)
            case let program as Product.Executable: names.isSuperset(of: program.targets)
            default: false
            }
        }
        targets = kept
        dependencies = dependencies.filter { dependency in
            guard case .sourceControl(_, let location, _) = dependency.kind else { return false }
            return packages.contains { location.hasSuffix("/" + $0) }
        }
    }
}

if Context.environment["BEACON_QUICK"] != nil {
    // `make test-quick` builds and tests what needs no package but swift-log: no server, database or cryptography. It
    // is the core, its sources and Apple's names, and the first test runs after a tenth of the whole. The tests of NATS
    // and MQTT need their servers.
    package.keepTargets(needing: ["swift-log"], except: ["BeaconNATSTests", "BeaconBrokerTests"])
} else if Context.environment["SPI_BUILD"] != nil {
    // The Swift Package Index sets SPI_BUILD. It builds all targets with the default traits and can name no others. So
    // does SwiftPM with the earlier version that scripts/check-interface compares with. Here they have all libraries,
    // and no packages of the programs.
    package.keepTargets(needing: [
        "swift-log", "OpenCombine", "GRDB.swift", "async-http-client", "swift-nio", "swift-nio-ssl", "swift-metrics",
    ])
    package.traits.insert(.default(enabledTraits: ["Gateway"]))
}
