package import Foundation

/// The relevant content of an application's Info.plist: its identifier, its name, and its reasons for requests.
///
/// On iOS, the file is in the app's bundle. Here it is beside the executable, where Foundation looks, or in the folder
/// `Resources` of the executable's resources, where SwiftPM puts it. Executables of one package share a folder, so each
/// of them needs the latter.
package struct InfoPlist: Hashable, Sendable {
    /// The bundle identifier.
    package var identifier: String?

    /// The name that users see.
    package var name: String?

    /// The reason for location access while the app runs (`NSLocationWhenInUseUsageDescription`).
    package var whenInUseReason: String?

    /// The reason for location access at any time (`NSLocationAlwaysAndWhenInUseUsageDescription`).
    package var alwaysReason: String?

    /// The background modes (`UIBackgroundModes`).
    package var backgroundModes: [String] = []

    /// Creates an empty list, as for a program without an Info.plist.
    package init() {}

    /// Creates a list from the content of a file.
    ///
    /// - Parameter data: a property list of any format.
    /// - Throws: an error if the data is not a property list.
    package init(_ data: Data) throws {
        let content = try PropertyListSerialization.propertyList(from: data, format: nil) as? [String: Any] ?? [:]
        // A value of the wrong type is ignored; the other values still count.
        func text(_ key: String) -> String? { (content[key] as? String).flatMap { $0.isEmpty ? nil : $0 } }
        identifier = text("CFBundleIdentifier")
        name = text("CFBundleDisplayName") ?? text("CFBundleName")
        whenInUseReason = text("NSLocationWhenInUseUsageDescription")
        alwaysReason = text("NSLocationAlwaysAndWhenInUseUsageDescription")
        backgroundModes = content["UIBackgroundModes"] as? [String] ?? []
    }

    /// Reads the list of an executable; empty if the executable has no Info.plist.
    ///
    /// - Parameter executable: the executable's path.
    /// - Throws: an error if the file exists but cannot be read.
    package init(ofExecutable executable: String) throws {
        self.init()
        for file in Self.places(ofExecutable: executable) where FileManager.default.fileExists(atPath: file.path) {
            self = try InfoPlist(Data(contentsOf: file))
            return
        }
    }

    /// Returns the reason that the user reads when the application requests permission.
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

    /// Returns the possible locations of an executable's Info.plist, in order of preference.
    private static func places(ofExecutable executable: String) -> [URL] {
        let url = URL(fileURLWithPath: executable)
        let folder = url.deletingLastPathComponent()
        // SwiftPM names the folder after the package and the target, which has the executable's name. Both may have
        // underscores: `A_B_C.resources` belongs to the executable `B_C` if it exists, otherwise to `C`.
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
