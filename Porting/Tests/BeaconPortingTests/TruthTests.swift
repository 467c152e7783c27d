import DelegateCheck
import Foundation
import Testing

@testable import BeaconPorting

/// The promises that the port makes about its result.
@Suite("The port says the truth")
struct TruthTests {
    /// Files of a module, and the lines that are left in each.
    static let modules: [(files: [String], left: [[Int]])] = [
        // A type that one file hides.
        (
            [
                "import UIKit\nclass Badge: UIView {\n}\nfunc makeBadge() -> Badge { Badge() }",
                "import CoreLocation\nclass A {\n    var badge = makeBadge()\n    func f(_ b: Badge) {}\n    func g() {\n        if let badge = makeBadge() as Badge? { print(badge) }\n    }\n}",
            ], [[], [6, 6]]
        ),
        // A chain of them, in the order of files that needs most rounds.
        (
            [
                "final class D: C {\n}", "class C: B {\n}", "typealias B = A", "import UIKit\nclass A: UIView {\n}",
            ], [[], [], [], []]
        ),
        // A local that is hidden while control flow uses it.
        (
            [
                "import UIKit\nimport CoreLocation\nfunc f(_ m: CLLocationManager) -> Double {\n    let rest = UIApplication.shared.backgroundTimeRemaining\n    guard rest > 5 else { return 0 }\n    m.startRangingBeacons(satisfying: CLBeaconIdentityConstraint(uuid: UUID()))\n    return rest\n}"
            ], [[5]]
        ),
        // A logger of another file.
        (
            [
                "import os\nenum Log {\n    static let main = Logger(subsystem: \"a\", category: \"b\")\n}",
                "import Foundation\nfunc f() {\n    Log.main.info(\"a\")\n}\nfunc g() -> Bool { h(Log.main) }\nfunc h(_ a: Any) -> Bool { true }",
            ], [[], [5]]
        ),
        // A requirement of an own protocol stays.
        (
            [
                "import UIKit\nprotocol Shows { func show(_ view: UIView) }\nclass A: Shows {\n    func show(_ view: UIView) {}\n}"
            ], [[2]]
        ),
        // A name that only another platform's branch declares.
        (
            ["#if targetEnvironment(simulator)\nstruct Fake {}\n#endif\nfunc f(_ a: Fake) {}"], [[4]]
        ),
        // Local names of control flow are not the hidden ones.
        (
            [
                "import UIKit\nclass A {\n    var badge: UIView?\n    var size: UIView?\n    func f(_ all: [Int?]) {\n        if let badge = all.first { print(badge as Any) }\n        for badge in all { print(badge as Any) }\n        all.forEach { badge in print(badge as Any) }\n        guard let badge = all.last else { return }\n        print(badge as Any)\n        if let size { print(size) }\n    }\n}"
            ], [[11]]
        ),
    ]

    @Test("All files hide or leave the names that one of them hides", arguments: modules.indices)
    func module(_ index: Int) throws {
        let (texts, left) = Self.modules[index]
        let sources = texts.enumerated().map { SourceText(path: "F\($0.offset).swift", text: $0.element) }
        for order in [sources, sources.reversed()] {
            let files = Porting.port(order).sorted { $0.path < $1.path }
            #expect(files.map { $0.decisions.map(\.line) } == left, "\(files.map(\.decisions))")
            let again = Porting.port(files.map { SourceText(path: $0.path, utf8: $0.ported) })
            #expect(again.flatMap(\.changes) == [])
            #expect(again.map { $0.decisions.map(\.text) } == files.map { $0.decisions.map(\.text) })
            guard TypeChecker.flags != nil else { continue }
            let errors = try TypeChecker.errors(in: files)
            #expect(errors.isEmpty == left.allSatisfy(\.isEmpty), "\(errors)")
        }
    }

    @Test(
        "With --check each error of the compiler is left, and without errors nothing is",
        arguments: [
            ("import CoreLocation\nlet a = CLLocationManager()\n", 0), ("import CoreLocation\nlet a: Int = \"b\"\n", 1),
            ("import CoreLocation\nlet a = CLLocationManager().noSuchMember\n", 1), ("func f( {\n", 1),
        ])
    func check(_ text: String, _ status: Int32) throws {
        guard let flags = TypeChecker.flags else { return }
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "Source.swift")
        try Data(text.utf8).write(to: file)
        let arguments = ["port", "--check"] + flags.flatMap { ["--flag", $0] } + ["--in-place", file.path]
        #expect(PortingCommand.run(arguments) == status)
        // A compiler that is not there is no success.
        #expect(PortingCommand.run(["port", "--check", "--compiler", "/no/swiftc", "--in-place", file.path]) != 0)
    }
}
