// swift-tools-version: 6.2
import PackageDescription

/// The modules of the package beside, which no user of it builds upon.
let modules = Target.Dependency.product(name: "RepositoryModules", package: "swift-beacon")

/// The measurements of swift-beacon, in a package of their own so that nobody who depends on swift-beacon builds them.
let package = Package(
    name: "swift-beacon-benchmarks",
    dependencies: [
        .package(name: "swift-beacon", path: ".."),
        // The client that webhooks are called with, for a bare loop beside the delivery.
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

        // What a callback costs through the service and Core Location's face.
        .executableTarget(
            name: "CallbackCost",
            dependencies: [
                "CReference",
                modules,
                .product(name: "CoreLocation", package: "swift-beacon"),
            ]
        ),

        // How fast notifications go onto the disk and out to a webhook.
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

        // How fast steps go into the event store and out to a consumer, and how many bytes that writes.
        .executableTarget(
            name: "EventStoreThroughput",
            dependencies: [.product(name: "BeaconEventStore", package: "swift-beacon"), modules]
        ),

        // What the scan and peer measurements read.
        .executableTarget(
            name: "AdvertFiles",
            dependencies: [
                "AdvertCorpus", "CReference",
                modules,
            ]
        ),

        // This project's readers of receivers' messages, as one of the peers.
        .executableTarget(
            name: "ProxyThroughput",
            dependencies: [modules]
        ),
        .executableTarget(
            name: "ReceiverThroughput",
            dependencies: [modules]
        ),

        // This project's decoder, as one of the peers.
        .executableTarget(
            name: "PeerDecoder",
            dependencies: [modules]
        ),

        // The adverts that everything here is measured on.
        .target(
            name: "AdvertCorpus",
            dependencies: ["CReference", modules]
        ),

        // The same work in plain C, beside which the engine is measured.
        .target(name: "CReference"),

        // Counts heap allocations by standing before those of the C library. Linux with glibc only.
        .target(name: "CAllocationCounter"),
    ],
    swiftLanguageModes: [.v6]
)
