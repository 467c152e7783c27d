import Foundation
import TestSupport
import Testing

@Suite("beacond replay", .fewAtATime)
struct ReplayCommandTests {
    @Test(
        "An export does not overwrite the journal that it is made of", arguments: ["case.journal", "other", "folder"])
    func exported(journal: String) async throws {
        let bench = try DaemonBench()
        try bench.configure("sources: [auto]\nregions: [{ name: a, uuid: \(DaemonBench.uuid) }]")
        try bench.write("a journal", to: "case.journal")
        let files = FileManager.default
        try files.createSymbolicLink(
            at: bench.folder.appending(path: "other"), withDestinationURL: bench.folder.appending(path: "case.journal"))
        try files.createDirectory(at: bench.folder.appending(path: "folder"), withIntermediateDirectories: false)
        try files.linkItem(
            at: bench.folder.appending(path: "case.journal"),
            to: bench.folder.appending(path: "folder/00000001.journal"))
        let outcome = try await bench.run(
            "replay", "-c", "beacond.yaml", "--journal", journal, "--export", "case.journal")
        #expect(outcome.status == 2 && outcome.errors.contains("another file"), "\(outcome)")
        #expect(bench.read("case.journal") == "a journal")
    }
}
