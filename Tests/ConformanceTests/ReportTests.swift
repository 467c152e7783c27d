import BeaconTestKit
import CoreLocation
import Foundation
import FoundationXML
import Testing

/// An app that greets at each entry, and only then.
private final class Greeter: NSObject, CLLocationManagerDelegate {
    private let manager = CLLocationManager()
    private let notify: @Sendable (String) -> Void

    init(_ notify: @escaping @Sendable (String) -> Void) {
        self.notify = notify
        super.init()
        manager.delegate = self
        manager.startMonitoring(for: shopRegion)
    }

    func locationManager(_ manager: CLLocationManager, didEnterRegion region: CLRegion) {
        notify("<hello> & \"welcome\"")
    }
}

/// An app that reads the first beacon of a report. Without `isFixed`, it does so in empty reports, too.
private final class FirstBeaconApp: NSObject, CLLocationManagerDelegate {
    private let manager = CLLocationManager()
    private let isFixed: Bool

    init(isFixed: Bool = false) {
        self.isFixed = isFixed
        super.init()
        manager.delegate = self
        manager.startRangingBeacons(satisfying: shopRegion.beaconIdentityConstraint)
    }

    func locationManager(
        _ manager: CLLocationManager, didRange beacons: [CLBeacon],
        satisfying beaconConstraint: CLBeaconIdentityConstraint
    ) {
        if !isFixed || !beacons.isEmpty { _ = beacons[0].proximity }
    }
}

@Suite("Reports of conformance", .serialized)
@MainActor
struct ReportTests {
    private func greeterReport(_ name: String = "Greeter") async -> Conformance.Report {
        let conformance = Conformance()
        return await conformance.run(name) { _ in Greeter { conformance.note($0) } }
    }

    @Test("A finding names the situation, the expectation and the source, and field reports alone are warnings")
    func finding() async throws {
        let report = await greeterReport()
        let finding = try #require(report.findings.first { $0.situation == 2 })
        #expect(finding.severity == .warning)
        #expect(finding.sources.allSatisfy { $0.trust == .field })
        #expect(!finding.expected.isEmpty)
        #expect(report.errors.isEmpty, "\(report)")
        #expect(report.results.map(\.number) == Array(1...40))
        let inside = try #require(report.results.first { $0.number == 2 })
        #expect(inside.transcript.contains { $0.contains("didDetermineState inside for shop") })
    }

    @Test("JUnit's file is XML with a test for each situation, whatever the texts contain")
    func junit() async throws {
        let report = await greeterReport("A <b> & \"c\"")
        let tests = try JUnitReader.read(report.junit)
        #expect(tests.count == 40)
        #expect(report.markdown.contains("| warning | 2 start inside |"))
    }

    @Test("Errors are failures, and situations that do not apply are skipped")
    func failures() async throws {
        let app = try #require(RangingApps.all.first { $0.situations.contains(10) })
        let report = await app.run(isFixed: false)
        let tests = try JUnitReader.read(report.junit)
        #expect(tests["10 new address"] == ["failure"])
        #expect(tests["28 screen on"] == ["skipped"])
    }

    @Test("Reports are written to the files that the caller names")
    func files() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let report = await greeterReport()
        let (junit, markdown) = (folder.appendingPathComponent("a.xml"), folder.appendingPathComponent("a.md"))
        try report.write(junit: junit, markdown: markdown)
        #expect(try String(contentsOf: junit, encoding: .utf8) == report.junit)
        #expect(try String(contentsOf: markdown, encoding: .utf8) == report.markdown)
    }

    @Test("An app without regions and notes is not called right")
    func silence() async {
        let report = await Conformance().run("Nothing") { _ in NSObject() }
        #expect(report.findings.isEmpty)
        #expect(report.limits.count == 1)
        #expect(report.description.contains("monitors and ranges nothing"))
    }

    @Test("The report of a crash names the situation and the expectation, and its JUnit file is complete")
    func crash() async throws {
        // An exit test captures nothing. The child derives the folder from its parent.
        let folder = Self.folderOfCrash(getpid())
        defer { try? FileManager.default.removeItem(at: folder) }
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            setenv("BEACON_CONFORMANCE_REPORTS", await Self.folderOfCrash(getppid()).path, 1)
            _ = await Conformance().run("Crashing Ranger") { _ in FirstBeaconApp() }
        }
        let output = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
        #expect(output.contains("Conformance of Crashing Ranger: the app crashes in situation 1, walk in"))
        let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        let junit = try #require(files.first { $0.pathExtension == "xml" })
        let tests = try JUnitReader.read(String(contentsOf: junit, encoding: .utf8))
        #expect(tests == ["1 walk in": ["failure"]])
        let markdown = try #require(files.first { $0.pathExtension == "md" })
        #expect(try String(contentsOf: markdown, encoding: .utf8).contains("The app crashes in situation 1, walk in"))
    }

    private static func folderOfCrash(_ process: pid_t) -> URL {
        FileManager.default.temporaryDirectory.appendingPathComponent("conformance-crash-\(process)")
    }

    @Test("The twin of the crashing app has no finding")
    func corrected() async {
        let report = await Conformance().run("First Beacon") { _ in FirstBeaconApp(isFixed: true) }
        #expect(report.findings.isEmpty, "\(report)")
    }

    @Test("The page's table is the one of the code")
    func page() async throws {
        let report = await greeterReport()
        let page = try String(
            contentsOf: URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
                .deletingLastPathComponent().appendingPathComponent("docs/background.md"), encoding: .utf8)
        for row in Self.rows(report) { #expect(page.contains(row), "missing in docs/background.md:\n\(row)") }
    }

    static func rows(_ report: Conformance.Report) -> [String] {
        report.results.map { result in
            let sources = result.sources.map(\.description).joined(separator: ", ")
            return "| \(result.number) | \(result.name) | \(result.course) | \(result.expected) | \(sources) |"
        }
    }
}

/// The tests of a JUnit file, by name, with the names of their elements.
private final class JUnitReader: NSObject, XMLParserDelegate {
    private var tests: [String: [String]] = [:]
    private var current: String?

    static func read(_ xml: String) throws -> [String: [String]] {
        let reader = JUnitReader()
        let parser = XMLParser(data: Data(xml.utf8))
        parser.delegate = reader
        try #require(parser.parse(), "\(xml)")
        return reader.tests
    }

    func parser(
        _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
        attributes: [String: String]
    ) {
        if name == "testcase", let test = attributes["name"] {
            current = test
            tests[test] = []
        } else if let current {
            tests[current]?.append(name)
        }
    }

    func parser(_ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?) {
        if name == "testcase" { current = nil }
    }
}
