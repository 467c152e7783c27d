// swift-tools-version: 6.2
import PackageDescription

let habits: [SwiftSetting] = [
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .treatAllWarnings(as: .error),
]

let swiftSyntax: [Target.Dependency] = ["SwiftSyntax", "SwiftParser"].map {
    .product(name: $0, package: "swift-syntax")
}

/// What reads and edits users' sources, in a separate package so that only those who port an app build swift-syntax.
/// It does not depend on swift-beacon: it knows the names of its interface.
let package = Package(
    name: "swift-beacon-porting",
    products: [.executable(name: "beacon-code", targets: ["BeaconCode"])],
    dependencies: [.package(url: "https://github.com/swiftlang/swift-syntax", from: "603.0.0")],
    targets: [
        .target(
            name: "DelegateCheck", dependencies: swiftSyntax, resources: [.embedInCode("Tables")],
            swiftSettings: habits),
        .target(
            name: "BeaconPorting", dependencies: ["DelegateCheck"] + swiftSyntax,
            resources: [.embedInCode("Tables")], swiftSettings: habits),
        .executableTarget(name: "BeaconCode", dependencies: ["BeaconPorting"], swiftSettings: habits),
        .testTarget(name: "DelegateCheckTests", dependencies: ["DelegateCheck"], swiftSettings: habits),
        .testTarget(
            name: "BeaconPortingTests", dependencies: ["BeaconPorting", "DelegateCheck"], swiftSettings: habits),
    ],
    swiftLanguageModes: [.v6]
)
