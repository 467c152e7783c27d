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
        struct Content: Decodable {
            var CFBundleIdentifier: String?
            var CFBundleDisplayName: String?
            var CFBundleName: String?
            var NSLocationWhenInUseUsageDescription: String?
            var NSLocationAlwaysAndWhenInUseUsageDescription: String?
            var UIBackgroundModes: [String]?
        }
        let content = try PropertyListDecoder().decode(Content.self, from: data)
        identifier = content.CFBundleIdentifier.flatMap { $0.isEmpty ? nil : $0 }
        name = content.CFBundleDisplayName ?? content.CFBundleName
        whenInUseReason = content.NSLocationWhenInUseUsageDescription
        alwaysReason = content.NSLocationAlwaysAndWhenInUseUsageDescription
        backgroundModes = content.UIBackgroundModes ?? []
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
        // SwiftPM names the folder by the package and the target, which has the executable's name.
        let bundles = StateDirectory.names(in: folder).filter { $0.hasSuffix("_\(url.lastPathComponent).resources") }
        return bundles.map { folder.appendingPathComponent($0).appendingPathComponent("Resources/Info.plist") }
            + [folder.appendingPathComponent("Info.plist")]
    }
}
