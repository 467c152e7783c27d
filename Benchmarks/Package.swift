// swift-tools-version: 6.2
import PackageDescription

/// The modules of the main package that its users do not build.
let modules = Target.Dependency.product(name: "RepositoryModules", package: "swift-beacon")

/// The benchmarks of swift-beacon, in a separate package so that users of swift-beacon do not build them.
let package = Package(
    name: "swift-beacon-benchmarks",
    dependencies: [
        .package(name: "swift-beacon", path: "..", traits: ["Delivery"]),
        // The webhooks' HTTP client, for a bare loop to compare the delivery with.
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    ],
    targets: [
        .executableTarget(
            name: "BeaconBenchmarks",
            dependencies: [
                "AdvertCorpus", "CAllocationCounter", "CReference",
                modules,
            ]
        ),

        // The cost of a callback through the service and the Core Location module.
        .executableTarget(
            name: "CallbackCost",
            dependencies: [
                "CReference",
                modules,
                .product(name: "CoreLocation", package: "swift-beacon"),
            ]
        ),

        // The throughput of notifications to the disk and to a webhook.
        .executableTarget(
            name: "DeliveryThroughput",
            dependencies: [
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "BeaconDelivery", package: "swift-beacon"),
                .product(name: "BeaconEventStore", package: "swift-beacon"),
                modules,
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ]
        ),

        // The throughput of steps into the event store and to a consumer, and the bytes written.
        .executableTarget(
            name: "EventStoreThroughput",
            dependencies: [.product(name: "BeaconEventStore", package: "swift-beacon"), modules]
        ),

        // The input files of the scan and peer benchmarks.
        .executableTarget(
            name: "AdvertFiles",
            dependencies: [
                "AdvertCorpus", "CReference",
                modules,
            ]
        ),

        // This project's readers of receivers' messages, for comparison with peers.
        .executableTarget(
            name: "ProxyThroughput",
            dependencies: [modules]
        ),
        .executableTarget(
            name: "ReceiverThroughput",
            dependencies: [modules]
        ),

        // This project's decoder, for comparison with peers.
        .executableTarget(
            name: "PeerDecoder",
            dependencies: [modules]
        ),

        // The adverts for all benchmarks.
        .target(
            name: "AdvertCorpus",
            dependencies: ["CReference", modules]
        ),

        // The same work in plain C, for comparison with the engine.
        .target(name: "CReference"),

        // Counts heap allocations by wrapping those of the C library. Linux with glibc only.
        .target(name: "CAllocationCounter"),
    ],
    swiftLanguageModes: [.v6]
)
