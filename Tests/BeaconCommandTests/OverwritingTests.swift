import Foundation
import TestSupport
import Testing

@Suite("Outputs that are also inputs", .fewAtATime)
struct OverwritingTests {
    private static let scenario = """
        {"duration": 5, "receivers": [{"position": [0, 0]}], "uuid": "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0",
         "beacons": [{"major": 1, "minor": 1, "position": [1, 0]}]}
        """

    /// A folder with a scenario, a capture of it, a key, and links to the two former.
    private func inputs() async throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        let path = folder.url.path
        try Self.scenario.write(toFile: path + "/air.json", atomically: true, encoding: .utf8)
        try "Ann: ec0234a357c8ad05341010a60a397d9b".write(toFile: path + "/tags", atomically: true, encoding: .utf8)
        let made = try await BeaconProgram.run("simulate", path + "/air.json", "--output", path + "/f.ndjson")
        #expect(made.status == 0, "\(made.errors)")
        for (name, target) in [("soft.ndjson", "f.ndjson"), ("soft.csv", "new.csv")] {
            try FileManager.default.createSymbolicLink(atPath: "\(path)/\(name)", withDestinationPath: target)
        }
        try FileManager.default.linkItem(atPath: path + "/f.ndjson", toPath: path + "/hard.ndjson")
        return folder
    }

    private func contents(of folder: TemporaryFolder) throws -> [String: Data] {
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
        return Dictionary(
            uniqueKeysWithValues: names.map { ($0, (try? Data(contentsOf: folder.url.appending(path: $0))) ?? Data()) })
    }

    @Test(
        "A command does not overwrite its input, under any of its names",
        arguments: [
            "record %/f.ndjson --source %/f.ndjson", "record %/f.ndjson --source %/../%/f.ndjson",
            "record %/soft.ndjson --source %/f.ndjson", "record %/f.ndjson --source %/soft.ndjson",
            "record %/hard.ndjson --source %/f.ndjson", "record %/f.ndjson --source - < %/f.ndjson",
            "record - --source %/f.ndjson >> %/f.ndjson",
            "record %/air.json --source simulation:%/air.json --speed max",
            "record %/tags --tags %/tags --source %/f.ndjson", "simulate %/air.json --output %/air.json",
            "simulate %/air.json --truth %/air.json",
        ])
    func inputIsKept(command: String) async throws {
        let folder = try await inputs()
        let before = try contents(of: folder)
        // "%/../%/" is another path of the same folder.
        let line = command.replacing("%/../%", with: "%/../\(folder.url.lastPathComponent)")
            .replacing("%", with: folder.url.path)
        let outcome = try await BeaconProgram.runShell("\(BeaconProgram.path) \(line)")
        #expect(outcome.status == 2 && outcome.errors.contains("another file"), "\(outcome)")
        #expect(try contents(of: folder) == before)
    }

    @Test(
        "Two outputs are two files, even before they exist",
        arguments: [
            "--output new.json --truth ./new.json", "--output new.csv --truth soft.csv",
            "--output f.ndjson --truth hard.ndjson", "--truth new.csv > new.csv",
        ])
    func twoOutputs(options: String) async throws {
        let folder = try await inputs()
        let outcome = try await BeaconProgram.runShell(
            "cd \(folder.url.path) && \(BeaconProgram.path) simulate museum \(options)")
        #expect(outcome.status == 2 && outcome.errors.contains("--truth needs a separate file"), "\(outcome)")
    }

    @Test("Outputs that are no files may be the same, and a built-in scenario is not the file of that name")
    func harmless() async throws {
        let folder = try await inputs()
        for line in ["--output museum --truth new.csv", "--truth /dev/stderr 2> /dev/null > /dev/null"] {
            let outcome = try await BeaconProgram.runShell(
                "cd \(folder.url.path) && \(BeaconProgram.path) simulate museum \(line)")
            #expect(outcome.status == 0, "\(outcome)")
        }
    }
}
