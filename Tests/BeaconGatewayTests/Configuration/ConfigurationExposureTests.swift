import BeaconConfiguration
import BeaconGateway
import Foundation
import GatewayTestSupport
import Glibc
import TestSupport
import Testing

@Suite("Configurations: files that other users can read or change")
struct ConfigurationExposureTests {
    private let temporary: TemporaryFolder
    private var folder: String { temporary.url.path }
    private var file: String { folder + "/inner/file" }

    init() throws {
        temporary = try TemporaryFolder()
        try FileManager.default.createDirectory(atPath: folder + "/inner", withIntermediateDirectories: true)
        #expect(chmod(folder, 0o755) == 0 && chmod(folder + "/inner", 0o755) == 0)
        try Data("#!/bin/sh\n".utf8).write(to: URL(fileURLWithPath: file))
    }

    /// Follows a warning's remedy.
    private func repair(_ warning: String) throws {
        let command = try #require(warning.firstMatch(of: /; repair it with: (?:sudo )?chmod ([0-7]+) (\/.*)$/))
        #expect(chmod(String(command.2), mode_t(command.1, radix: 8) ?? 0) == 0)
    }

    @Test("check warns about a configuration and its secrets, which stay usable")
    func check() throws {
        let path = folder + "/inner/beacond.yaml"
        try """
        sources: [auto]
        regions: [{ name: a, uuid: \(GatewayBench.uuid) }]
        launch: { rules: [{ name: r, program: \(file) }] }

        """.write(toFile: path, atomically: false, encoding: .utf8)
        let secrets = folder + "/inner/beacond.env"
        try "A=b\n".write(toFile: secrets, atomically: false, encoding: .utf8)
        func warnings() throws -> [String] {
            let checked = try GatewayConfiguration.check(file: path, environment: [:])
            #expect(checked.isUsable)
            return checked.diagnostics.map { $0.text(file: path) }
        }
        #expect(chmod(file, 0o755) == 0)
        for (mode, count) in [(0o666, 2), (0o602, 2), (0o604, 1), (0o660, 0), (0o600, 0)] as [(mode_t, Int)] {
            for name in [path, secrets] { #expect(chmod(name, mode) == 0) }
            let lines = try warnings()
            #expect(lines.count == count && lines.allSatisfy { $0.hasPrefix("\(path): warning: other users can ") })
            for line in lines { try repair(line) }
            #expect(try warnings().isEmpty)
        }
        // A program that cannot run has a separate warning.
        #expect(chmod(file, 0o644) == 0)
        #expect(try warnings().map { $0.contains("the rule r will fail: cannot run") } == [true])
        // A link has the rights of its target.
        try FileManager.default.moveItem(atPath: secrets, toPath: folder + "/target")
        try FileManager.default.createSymbolicLink(atPath: secrets, withDestinationPath: folder + "/target")
        #expect(chmod(file, 0o755) == 0 && chmod(folder + "/target", 0o644) == 0)
        #expect(try warnings().count == 1)
    }
}
