// swift-tools-version: 6.2
import PackageDescription

/// Returns a module with an Apple name, which Apple's platforms already have.
func face(_ name: String) -> Target.Dependency {
    .product(name: name, package: "swift-beacon", condition: .when(platforms: [.linux]))
}

/// Returns an app whose Info.plist is in its folder `Resources`, where Linux finds it. In Xcode the file belongs to the
/// app's target.
func app(_ name: String, _ faces: String...) -> Target {
    .executableTarget(name: name, dependencies: faces.map(face), path: name, resources: [.copy("Resources")])
}

let package = Package(
    name: "Examples",
    dependencies: [.package(name: "swift-beacon", path: "..", traits: ["Gateway"])],
    targets: [
        app("Museum", "CoreLocation"),
        app("DepartmentStore", "CoreLocation"),
        app("DeviceAsBeacon", "CoreLocation", "CoreBluetooth"),
        app("BeaconScanner", "CoreBluetooth"),
        app("RangingForBeacons", "CoreLocation", "CoreBluetooth", "BeaconTestKit"),
        app("ProximityRecipe", "CoreLocation", "KumulosSDK"),
        .executableTarget(
            name: "BackgroundCheck",
            dependencies: [
                face("CoreLocation"), face("CoreBluetooth"), .product(name: "BeaconTestKit", package: "swift-beacon"),
            ], path: "BackgroundCheck"),
        .executableTarget(
            name: "NewSource", dependencies: [.product(name: "BeaconMonitoring", package: "swift-beacon")],
            path: "NewSource"),
    ],
    swiftLanguageModes: [.v6]
)
