// swift-tools-version: 6.2
import PackageDescription

/// The modules with Apple's names, which Apple's platforms bring themselves.
func face(_ name: String) -> Target.Dependency {
    .product(name: name, package: "swift-beacon", condition: .when(platforms: [.linux]))
}

let package = Package(
    name: "Examples",
    dependencies: [.package(name: "swift-beacon", path: "..")],
    targets: [
        .executableTarget(name: "Museum", dependencies: [face("CoreLocation")], path: "Museum"),
        .executableTarget(name: "DepartmentStore", dependencies: [face("CoreLocation")], path: "DepartmentStore"),
        .executableTarget(
            name: "DeviceAsBeacon", dependencies: [face("CoreLocation"), face("CoreBluetooth")],
            path: "DeviceAsBeacon"),
        .executableTarget(
            name: "RangingForBeacons", dependencies: [face("CoreLocation"), face("CoreBluetooth")],
            path: "RangingForBeacons"),
        .executableTarget(
            name: "ProximityRecipe", dependencies: [face("CoreLocation"), face("KumulosSDK")],
            path: "ProximityRecipe"),
    ],
    swiftLanguageModes: [.v6]
)
