internal import BeaconSupport
internal import CCrashReport
import Foundation

/// The report for the case that the app crashes, which ends the test's process.
///
/// It is written ahead of each situation, since a crashing process can only write bytes that it already has.
@MainActor
final class CrashReport {
    /// The texts, which C reads while the process crashes. They are released after C has got others.
    private var texts: [UnsafeMutablePointer<CChar>] = []
    private let app: String
    private var done: [(number: Int, name: String, elements: [String])] = []
    private var current: Situation?

    init(app: String) { self.app = app }

    /// Prepares the report of a crash in a situation.
    func begin(_ situation: Situation) {
        finishCurrent()
        current = situation
        let text = "crashes in situation \(situation.number), \(situation.name): \(situation.course)"
        let source = situation.sources.map(\.description).joined(separator: ", ")
        let failure = Conformance.Report.escape("\(text) Expected: \(situation.expected). Source: \(source)")
        var files: [(path: String?, text: String)] = [(nil, "\nConformance of \(app): the app \(text)\n")]
        if let folder = Conformance.Report.folder {
            try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            let path = folder.appendingPathComponent(Conformance.Report.fileName(app)).path
            let element = "<failure message=\"crashes\">\(failure)</failure>"
            let xml = Conformance.Report.junit(app, done + [(situation.number, situation.name, [element])])
            files.append((path + ".xml", xml))
            files.append((path + ".md", "# Conformance of \(app)\n\nThe app \(text)\n"))
        }
        replace(files)
    }

    /// Ends the preparation: no app runs.
    func end() {
        finishCurrent()
        replace([])
    }

    private func finishCurrent() {
        if let current { done.append((current.number, current.name, [])) }
        current = nil
    }

    private func replace(_ files: [(path: String?, text: String)]) {
        let old = texts
        texts = []
        let entries = files.map { file in
            let path = file.path.flatMap { strdup($0) }
            let text = strdup(file.text)
            texts += [path, text].compactMap { $0 }
            return beacon_crash_file(path: path, text: text, length: file.text.utf8.count)
        }
        beacon_on_crash(entries, entries.count)
        for text in old { free(text) }
    }
}
