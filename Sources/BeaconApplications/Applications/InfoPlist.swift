package import Foundation

/// What an application says of itself in its Info.plist: its identifier, its name, and its reasons for asking.
///
/// On iOS it lies in the app's bundle. Here it lies beside the executable, as Foundation has it, or in the folder
/// `Resources` of the executable's resources, where SwiftPM puts it: executables of one package share a folder, and so
/// each needs one of its own.
package struct InfoPlist: Hashable, Sendable {
    /// The bundle identifier.
    package var identifier: String?

    /// The name that the user knows.
    package var name: String?

    /// The reason for knowing of beacons while it runs (`NSLocationWhenInUseUsageDescription`).
    package var whenInUseReason: String?

    /// The reason for knowing of beacons at any time (`NSLocationAlwaysAndWhenInUseUsageDescription`).
    package var alwaysReason: String?

    /// The background modes (`UIBackgroundModes`).
    package var backgroundModes: [String] = []

    /// An empty one, as a program without an Info.plist has.
    package init() {}

    /// Creates it from the content of a file.
    ///
    /// - Parameter data: a property list of any format.
    /// - Throws: what is wrong with it.
    package init(_ data: Data) throws {
        let content = try PropertyListSerialization.propertyList(from: data, format: nil) as? [String: Any] ?? [:]
        // One value that is of another kind is as if it were not there, and says nothing of the others.
        func text(_ key: String) -> String? { (content[key] as? String).flatMap { $0.isEmpty ? nil : $0 } }
        identifier = text("CFBundleIdentifier")
        name = text("CFBundleDisplayName") ?? text("CFBundleName")
        whenInUseReason = text("NSLocationWhenInUseUsageDescription")
        alwaysReason = text("NSLocationAlwaysAndWhenInUseUsageDescription")
        backgroundModes = content["UIBackgroundModes"] as? [String] ?? []
    }

    /// Reads that of an executable; an empty one where there is none.
    ///
    /// - Parameter executable: the executable's path.
    /// - Throws: an error where there is one that cannot be read.
    package init(ofExecutable executable: String) throws {
        self.init()
        for file in Self.places(ofExecutable: executable) where FileManager.default.fileExists(atPath: file.path) {
            self = try InfoPlist(Data(contentsOf: file))
            return
        }
    }

    /// Returns the reason that the user reads where the application asks.
    package func reason(for request: AuthorizationRequest) -> String? {
        switch request {
        case .whenInUse: whenInUseReason ?? alwaysReason
        case .always: alwaysReason ?? whenInUseReason
        }
    }

    /// Returns the keys without which iOS ignores a request.
    package func missingKeys(for request: AuthorizationRequest) -> [String] {
        var keys: [String] = []
        if whenInUseReason == nil { keys.append("NSLocationWhenInUseUsageDescription") }
        if request == .always, alwaysReason == nil { keys.append("NSLocationAlwaysAndWhenInUseUsageDescription") }
        return keys
    }

    /// Returns where the Info.plist of an executable may be, the first place first.
    private static func places(ofExecutable executable: String) -> [URL] {
        let url = URL(fileURLWithPath: executable)
        let folder = url.deletingLastPathComponent()
        // SwiftPM names the folder by the package and the target, which has the executable's name. Both may have
        // underscores: `A_B_C.resources` is that of the executable `B_C` where there is one, else of `C`.
        let ending = ".resources"
        let bundles = StateDirectory.names(in: folder).filter { bundle in
            guard bundle.hasSuffix("_\(url.lastPathComponent)\(ending)") else { return false }
            let words = bundle.dropLast(ending.count).split(separator: "_", omittingEmptySubsequences: false)
            let targets = words.indices.dropFirst().map { words[$0...].joined(separator: "_") }
            return targets.first { FileManager.default.fileExists(atPath: folder.path + "/" + $0) }
                == url.lastPathComponent
        }
        return bundles.map { folder.appendingPathComponent($0).appendingPathComponent("Resources/Info.plist") }
            + [folder.appendingPathComponent("Info.plist")]
    }
}
