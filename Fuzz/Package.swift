// swift-tools-version: 6.2
import PackageDescription

let habits: [SwiftSetting] = [
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .treatAllWarnings(as: .error),
]

let package = Package(
    name: "swift-beacon-fuzz",
    dependencies: [.package(name: "swift-beacon", path: "..")],
    targets: [
        .executableTarget(
            name: "BeaconFuzz",
            dependencies: [
                .product(name: "BeaconModel", package: "swift-beacon"),
                .product(name: "BeaconRadio", package: "swift-beacon"),
                "CLibFuzzer",
            ],
            swiftSettings: habits
        ),
        .target(name: "CLibFuzzer"),
    ],
    swiftLanguageModes: [.v6]
)
