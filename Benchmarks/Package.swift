// swift-tools-version: 6.2
import PackageDescription

/// The measurements of swift-beacon, in a package of their own so that nobody who depends on swift-beacon builds them.
let package = Package(
    name: "swift-beacon-benchmarks",
    dependencies: [
        .package(name: "swift-beacon", path: ".."),
        // The client that webhooks are called with, for a bare loop beside the outbox.
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    ],
    targets: [
        .executableTarget(
            name: "BeaconBenchmarks",
            dependencies: [
                "AdvertCorpus", "CAllocationCounter", "CReference",
                .product(name: "BeaconEngine", package: "swift-beacon"),
                .product(name: "BeaconModel", package: "swift-beacon"),
                .product(name: "BeaconRadio", package: "swift-beacon"),
                .product(name: "LinuxRadio", package: "swift-beacon"),
            ]
        ),

        // What a callback costs through the service and Core Location's face.
        .executableTarget(
            name: "CallbackCost",
            dependencies: [
                "CReference",
                .product(name: "BeaconEngine", package: "swift-beacon"),
                .product(name: "BeaconModel", package: "swift-beacon"),
                .product(name: "BeaconRadio", package: "swift-beacon"),
                .product(name: "BeaconService", package: "swift-beacon"),
                .product(name: "CoreLocation", package: "swift-beacon"),
                .product(name: "LinuxRadio", package: "swift-beacon"),
            ]
        ),

        // How fast notifications go into the outbox and out to a webhook.
        .executableTarget(
            name: "DeliveryThroughput",
            dependencies: [
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "BeaconDelivery", package: "swift-beacon"),
                .product(name: "BeaconEngine", package: "swift-beacon"),
                .product(name: "BeaconModel", package: "swift-beacon"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ]
        ),

        // What the scan and peer measurements read.
        .executableTarget(
            name: "AdvertFiles",
            dependencies: [
                "AdvertCorpus", "CReference",
                .product(name: "BeaconModel", package: "swift-beacon"),
                .product(name: "BeaconRadio", package: "swift-beacon"),
            ]
        ),

        // This project's decoder, as one of the peers.
        .executableTarget(
            name: "PeerDecoder",
            dependencies: [.product(name: "BeaconModel", package: "swift-beacon")]
        ),

        // The adverts that everything here is measured on.
        .target(
            name: "AdvertCorpus",
            dependencies: ["CReference", .product(name: "BeaconModel", package: "swift-beacon")]
        ),

        // The same work in plain C, beside which the engine is measured.
        .target(name: "CReference"),

        // Counts heap allocations by standing before those of the C library. Linux with glibc only.
        .target(name: "CAllocationCounter"),
    ],
    swiftLanguageModes: [.v6]
)
