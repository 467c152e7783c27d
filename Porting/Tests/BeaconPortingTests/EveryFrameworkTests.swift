import DelegateCheck
import Testing

@testable import BeaconPorting

/// Every framework that a rule knows, alone and in pairs.
@Suite("Every framework")
struct EveryFrameworkTests {
    /// Imports in every order and place: adjacent, apart, first, last, alone.
    static func imports(_ first: String, _ second: String, form: Int) -> String {
        switch form % 4 {
        case 0: "import UIKit\nimport \(first)\nimport CoreLocation\nimport \(second)\n"
        case 1: "import CoreLocation\nimport \(second)\n\nimport \(first)\nimport UIKit\n"
        case 2: "import Foundation\nimport CoreLocation\n\nimport \(first)\n// Why.\nimport \(second)\n"
        default: "@preconcurrency import \(first)\nimport \(second)\nimport CoreLocation\n"
        }
    }

    /// A file that works with beacons.
    static func file(_ imports: String, number: Int, using type: String? = nil) -> SourceText {
        let parent = imports.contains("UIKit") ? "UIViewController" : "NSObject"
        let override = "override func viewDidLoad() {\n        super.viewDidLoad()"
        let start = imports.contains("UIKit") ? override : "func start() {"
        let use = type.map { "\n    var value: \($0)?\n    func set(_ new: \($0)) { value = new }" } ?? ""
        let call = type.map { "\n        let made = \($0)()\n        print(made)" } ?? ""
        return SourceText(
            path: "F\(number).swift",
            text: """
                \(imports)
                class Screen\(number): \(parent), CLLocationManagerDelegate {
                    let manager = CLLocationManager()
                    let region = CLBeaconRegion(uuid: UUID(), identifier: "shop")\(use)
                    \(start)\(call)
                        manager.delegate = self
                        manager.startMonitoring(for: region)
                    }
                    func locationManager(_ manager: CLLocationManager, didEnterRegion region: CLRegion) {
                        print(region.identifier)
                    }
                    func locationManager(_ manager: CLLocationManager, didExitRegion region: CLRegion) {
                        print(region.identifier)
                    }
                }

                """)
    }

    /// Ports all files alone, and checks what holds for any file.
    static func port(_ sources: [SourceText]) -> [PortedFile] {
        sources.map { source in
            let once = Porting.port([source])[0]
            let twice = Porting.port([SourceText(path: source.path, utf8: once.ported)])[0]
            #expect(twice.changes == [] && twice.ported == once.ported, "\(text(source.utf8))")
            #expect(twice.decisions.map(\.text) == once.decisions.map(\.text), "\(text(source.utf8))")
            let (before, after) = (lines(source.utf8), lines(once.ported))
            #expect(Double(after) <= 1.5 * Double(before), "\(before) lines became \(after): \(text(once.ported))")
            return once
        }
    }

    static func lines(_ text: [UInt8]) -> Int { text.count { $0 == UInt8(ascii: "\n") } }
    static func text(_ utf8: [UInt8]) -> String { String(decoding: utf8, as: UTF8.self) }

    /// Checks that each error of the compiler is at a line that the port has left, so that it says the truth.
    static func expectTruth(_ files: [PortedFile]) throws {
        guard TypeChecker.flags != nil else { return }
        let all = files.map { file in
            // They share a module, which needs the empty form once.
            guard let form = text(file.ported).firstRange(of: "#if !canImport(UIKit)\nclass UIViewController"),
                file.path != files.first(where: { text($0.ported).contains("\nclass UIViewController") })?.path
            else { return file }
            return PortedFile(
                path: file.path, original: file.original, ported: Array(text(file.ported)[..<form.lowerBound].utf8),
                origins: file.origins, changes: file.changes, importsCombine: false, decisions: file.decisions)
        }
        for error in try TypeChecker.errors(in: all) {
            let parts = error.split(separator: ":")
            guard let file = files.first(where: { $0.path == parts[0] }), let line = Int(parts[1]) else {
                Issue.record("\(error)")
                continue
            }
            let origin = file.origins[line - 1]
            // A name is left once, with the number of its lines.
            let source = text(file.ported).split(separator: "\n", omittingEmptySubsequences: false)[line - 1]
            let isLeft = file.decisions.contains { decision in
                let name = decision.text.split(separator: "'", omittingEmptySubsequences: false).dropFirst().first ?? ""
                return decision.line == origin || source.contains(name)
            }
            #expect(isLeft, "\(error)\n\(text(file.ported))")
        }
    }

    @Test("Each framework, in each place, is imported only where it exists, once")
    func each() throws {
        let names = AppleModule.names.subtracting(["Combine"]).sorted()
        var sources: [SourceText] = []
        for (number, name) in names.enumerated() {
            let other = names[(number + 1 + number * 7 % 100) % names.count]
            sources.append(Self.file(Self.imports(name, other, form: number), number: number))
        }
        let files = Self.port(sources)
        for (file, name) in zip(files, names) {
            let text = Self.text(file.ported)
            #expect(text.ranges(of: "#if").count <= 4, "\(text)")
            #expect(!text.contains("\n\n#if canImport(\(name))\n#if"), "\(text)")
        }
        try Self.expectTruth(files)
    }

    @Test("Random pairs of frameworks, with types of theirs that no table has")
    func pairs() throws {
        let names = AppleModule.names.subtracting(["Combine"]).sorted()
        let types = ["ZZThing", "QuiteNewType", "SystemSoundID", "MLModel", "NWPathMonitor", "kZZConstant", "Glimmer"]
        var sources: [SourceText] = []
        for number in 0..<120 {
            let imports = Self.imports(
                names[number * 31 % names.count], names[(number * 17 + 5) % names.count], form: number)
            sources.append(Self.file(imports, number: number, using: types[number % types.count]))
        }
        let files = Self.port(sources)
        for (file, source) in zip(files, sources) {
            let others = file.decisions.filter { !$0.text.contains("has an empty") }
            #expect(others == [], "\(Self.text(source.utf8))")
        }
        try Self.expectTruth(files)
    }

    @Test("Each name of the tables is hidden or left, and the compiler agrees")
    func tables() throws {
        // These two exist on Linux.
        let present = ["Combine", "CoreFoundation"]
        let prefixed = FrameworkNames.prefixes.map { ($0.prefix + "Gadget", $0.framework) }
        let all = FrameworkNames.frameworks.map { ($0.key, $0.value) }.sorted { $0.0 < $1.0 } + prefixed
        var sources: [SourceText] = []
        for (number, (name, framework)) in all.enumerated() where !present.contains(framework) {
            let imports = "import \(framework)\nimport CoreLocation\n\n"
            sources.append(Self.file(imports, number: number, using: name))
            // Linux must exclude the condition.
            #expect(AppleModule(framework) != nil, "\(framework) of \(name)")
        }
        try Self.expectTruth(Self.port(sources))
    }

    @Test(
        "Types of Linux stay in a file that imports a framework",
        arguments: [
            "URL", "URLComponents", "SIMD3<Float>", "Mirror", "Data", "CLBeacon", "CBUUID", "DispatchQueue", "NSObject",
            "NSAttributedString", "JSONDecoder", "AnyHashable", "Any", "TimeInterval", "Never", "Progress", "Unit",
        ])
    func present(_ type: String) throws {
        let text = """
            import CoreBluetooth
            import CoreLocation
            import CoreML
            import os
            struct A<Item> {
                var value: \(type)?
                var items: [Item: \(type)] { [:] }
                func make(_ make: () -> \(type)) -> \(type) { make() }
            }
            """.replacing("<Item>", with: "<Item: Hashable>")
        let file = Porting.port([SourceText(path: "F.swift", text: text)])[0]
        #expect(file.changes.map(\.line) == [3] && file.decisions == [], "\(file.changes)")
        if TypeChecker.flags != nil { #expect(try TypeChecker.errors(in: [file]) == []) }
    }

    @Test("A module that nothing is known about is never passed over")
    func unknown() {
        let source = SourceText(path: "a", text: "import Alamofire\nimport CoreLocation\n@testable import Own\n")
        #expect(Porting.port([source])[0].decisions.map(\.line) == [1, 3])
        #expect(Porting.port([source], modules: ["Alamofire", "Own"])[0].decisions == [])
        // A dependency may have the name of a framework.
        let charts = SourceText(path: "a", text: "import Charts\nimport CoreLocation\n")
        #expect(Porting.port([charts], modules: ["Charts"])[0].changes == [])
    }
}
