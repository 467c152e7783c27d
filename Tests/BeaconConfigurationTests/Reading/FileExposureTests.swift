import Foundation
import Glibc
import Testing

@testable import BeaconConfiguration

@Suite("What other users can read and change")
final class FileExposureTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("exposure-\(UUID())").path
    private var file: String { folder + "/inner/file" }

    init() throws {
        try FileManager.default.createDirectory(atPath: folder + "/inner", withIntermediateDirectories: true)
        #expect(chmod(folder, 0o755) == 0 && chmod(folder + "/inner", 0o755) == 0)
        try Data().write(to: URL(fileURLWithPath: file))
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    /// The expected warnings for each mode, with a trusted group and with another group.
    private static let modes: [(mode: mode_t, trusted: [FileExposure.Use: String], other: [FileExposure.Use: String])] =
        [
            (0o600, [:], [:]), (0o400, [:], [:]),
            (0o640, [:], [.secrets: "read"]),
            (0o660, [:], [.secrets: "read and write", .configuration: "write", .program: "write"]),
            (0o644, [.secrets: "read"], [.secrets: "read"]),
            (0o755, [.secrets: "read"], [.secrets: "read"]),
            (0o604, [.secrets: "read"], [.secrets: "read"]),
            (
                0o664, [.secrets: "read"],
                [.secrets: "read and write", .configuration: "write", .program: "write"]
            ),
            (
                0o620, [:],
                [.secrets: "write", .configuration: "write", .program: "write"]
            ),
            (
                0o602, [.secrets: "write", .configuration: "write", .program: "write"],
                [.secrets: "write", .configuration: "write", .program: "write"]
            ),
            (
                0o666, [.secrets: "read and write", .configuration: "write", .program: "write"],
                [.secrets: "read and write", .configuration: "write", .program: "write"]
            ),
        ]

    @Test("A file's mode and group decide, and the remedy repairs it", arguments: modes.indices)
    func files(_ index: Int) throws {
        let (mode, trusted, other) = Self.modes[index]
        for (isTrusted, expected) in [(true, trusted), (false, other)] {
            let exposure = FileExposure { _, _ in isTrusted }
            for use in FileExposure.Use.allCases {
                #expect(chmod(file, mode) == 0)
                let warnings = exposure.warnings(of: file, as: use).map(\.message)
                guard let deed = expected[use] else {
                    #expect(warnings.isEmpty, "\(String(mode, radix: 8)) \(use): \(warnings)")
                    continue
                }
                let warning = try #require(warnings.first)
                #expect(warnings.count == 1 && warning.hasPrefix("other users can \(deed) \(file), wh"), "\(warning)")
                try repair(warning)
                #expect(exposure.warnings(of: file, as: use).isEmpty)
            }
        }
    }

    @Test(
        "A folder in which other users can write exposes all files below it, unless it is sticky",
        arguments: [(0o777, false), (0o775, true), (0o1777, true), (0o755, true), (0o773, false), (0o700, true)])
    func folders(_ mode: mode_t, _ isSafe: Bool) throws {
        #expect(chmod(file, 0o600) == 0)
        let exposure = FileExposure { _, _ in true }
        for folder in [folder + "/inner", folder] {
            #expect(chmod(folder, mode) == 0)
            let warnings = exposure.warnings(of: file, as: .secrets).map(\.message)
            #expect(warnings.isEmpty == isSafe, "\(warnings)")
            for warning in warnings {
                #expect(
                    warning.hasPrefix("other users can write in \(folder) and replace \(file), which holds secrets"))
                try repair(warning)
            }
            #expect(exposure.warnings(of: file, as: .secrets).isEmpty)
            #expect(chmod(folder, 0o755) == 0)
        }
        #expect(chmod(folder, 0o775) == 0)
        #expect(FileExposure { _, _ in false }.warnings(of: file, as: .program).count == 1)
    }

    /// Runs the remedy of a warning.
    private func repair(_ warning: String) throws {
        let command = try #require(warning.firstMatch(of: /; repair it with: (?:sudo )?chmod ([0-7]+) (\/.*)$/))
        #expect(chmod(String(command.2), mode_t(command.1, radix: 8) ?? 0) == 0)
    }

    @Test("A link is checked with its own folder and that of its target, and only regular files are checked")
    func links() throws {
        #expect(chmod(file, 0o600) == 0)
        let other = folder + "/other"
        try FileManager.default.createDirectory(atPath: other, withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(atPath: other + "/link", withDestinationPath: file)
        let exposure = FileExposure { _, _ in true }
        #expect(chmod(other, 0o755) == 0)
        #expect(exposure.warnings(of: other + "/link", as: .secrets).isEmpty)
        for folder in [other, folder + "/inner"] {
            #expect(chmod(folder, 0o777) == 0)
            #expect(exposure.warnings(of: other + "/link", as: .secrets).count == 1)
            #expect(chmod(folder, 0o755) == 0)
        }
        // A chain: the link in the middle has its own folder, and so has a linked folder on the way.
        try FileManager.default.createDirectory(atPath: folder + "/middle", withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(atPath: folder + "/middle/link", withDestinationPath: "../inner")
        try FileManager.default.createSymbolicLink(
            atPath: other + "/chain", withDestinationPath: "../middle/link/file")
        for name in ["other", "middle", "inner"] {
            #expect(chmod("\(folder)/\(name)", 0o777) == 0)
            let warnings = exposure.warnings(of: other + "/chain", as: .secrets)
            #expect(warnings.map(\.place) == ["\(folder)/\(name)"], "\(warnings)")
            #expect(chmod("\(folder)/\(name)", 0o755) == 0)
        }
        #expect(mkfifo(folder + "/pipe", 0o666) == 0)
        for path in ["/pipe", "/nowhere", "/inner"] {
            #expect(exposure.warnings(of: folder + path, as: .secrets).isEmpty)
        }
    }
}
