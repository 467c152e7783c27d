// swift-tools-version: 6.2
import PackageDescription

let habits: [SwiftSetting] = [
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .treatAllWarnings(as: .error),
]

/// The modules of the main package that its users do not build.
let modules = Target.Dependency.product(name: "RepositoryModules", package: "swift-beacon")

let package = Package(
    name: "swift-beacon-fuzz",
    dependencies: [.package(name: "swift-beacon", path: "..")],
    targets: [
        .executableTarget(
            name: "BeaconFuzz",
            dependencies: [
                modules,
                "CLibFuzzer",
            ],
            swiftSettings: habits
        ),
        .target(name: "CLibFuzzer"),
    ],
    swiftLanguageModes: [.v6]
)
