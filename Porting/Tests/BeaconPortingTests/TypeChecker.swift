import Foundation

@testable import BeaconPorting

/// The compiler, with the modules of swift-beacon as its tests build them.
enum TypeChecker {
    /// The flags that find the modules; nil if CoreLocation is not built.
    static let flags: [String]? = {
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../..").standardizedFileURL
        let build = root.appending(path: ".build/debug")
        let files = FileManager.default
        guard
            ["CoreLocation", "CoreBluetooth"].allSatisfy({
                files.fileExists(atPath: build.appending(path: "Modules/\($0).swiftmodule").path)
            }), let targets = try? files.contentsOfDirectory(atPath: build.path)
        else { return nil }
        var maps = targets.map { build.appending(path: $0).appending(path: "module.modulemap") }
        maps.append(root.appending(path: "Sources/CZlib/module.modulemap"))
        return ["-I", build.appending(path: "Modules").path, "-module-alias", "Combine=BeaconCombine"]
            + maps.map(\.path).filter(files.fileExists).flatMap { ["-Xcc", "-fmodule-map-file=" + $0] }
    }()

    /// Returns the errors in ported files, as the name of the file, the line in the ported text and the message.
    static func errors(in files: [PortedFile]) throws -> [String] {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: folder) }
        return try TypeCheck(compiler: "swiftc", flags: flags ?? [], folder: folder)
            .failures(in: "App", files.map { ($0.path, $0.ported) })
            .map { "\($0.path ?? "?"):\($0.line): \($0.text)" }
    }
}
