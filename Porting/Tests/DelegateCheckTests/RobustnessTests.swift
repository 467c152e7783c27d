import DelegateCheck
import Foundation
import Testing

@Suite("Sources of every kind")
struct RobustnessTests {
    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()
    static let listings = root.deletingLastPathComponent().appending(path: "shared/source/listings")

    static func sources(in folder: URL) throws -> [SourceText] {
        let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
        return try (files?.compactMap { $0 as? URL } ?? []).filter { $0.pathExtension == "swift" }.map {
            SourceText(path: $0.path(percentEncoded: false), utf8: Array(try Data(contentsOf: $0)))
        }
    }

    @Test(
        "This repository's sources have no finding",
        arguments: [
            "Sources/CoreLocation", "Sources/CoreBluetooth", "Sources/KumulosSDK", "Porting/Sources/BeaconPorting",
            "Examples",
            "Tests/CoreLocationTests", "Tests/BeaconTestKitTests",
        ])
    func ownSources(_ folder: String) throws {
        let sources = try Self.sources(in: Self.root.appending(path: folder))
        #expect(!sources.isEmpty)
        #expect(DelegateCheck.findings(in: sources).map(\.description) == [])
    }

    @Test(
        "The documents' listings have no finding",
        .enabled(if: FileManager.default.fileExists(atPath: RobustnessTests.listings.path(percentEncoded: false))))
    func documents() throws {
        let sources = try Self.sources(in: Self.listings)
        #expect(sources.count == 4)
        #expect(DelegateCheck.findings(in: sources).map(\.description) == [])
    }

    /// After each of these sources a similar method is found, so the parser is still in step.
    @Test(
        "Strings, comments and expressions end correctly",
        arguments: [
            #"let a = "\("x" + "\(1)" + "}")""#,
            ##"let a = #"\#("}") \( " "#"##,
            ##"let a = #"""#"##,
            "let a = \"\"\"\n{ \" \"\" \\(f { \"}\" })\n\"\"\"",
            "let a = #\"\"\"\n{ \"\"\" \\(\n\"\"\"#",
            "let a = \"{ \\\" {\"", "let a = \"unterminated {", "/* { /* { */ { */", "// {\r\n", "#!/x {",
            #"let a = /["{]\/+/"#, "let a = #/ {\" /#", "let a = #/\n{ \"\n/#", "let a = b / c; let d = (e) / f // {",
            "let a = [1].map { $0 / 2 }; x = a / b; \"{/\"", "let `class` = 1; let `a {` = 2", "operator /* { */ =/=",
            "func f(a: (Int) -> Void = { _ in }, b: [Int] = [1, 2]) -> (Int, [String: Any]) where T == X {}",
            "func < <T>(a: T, b: T) -> Bool { a < b }",
            "@Foo(bar: { 1 }) @Bar class X<T: P<Int>>: Y<() -> Void>, Z where T == Q {}",
            "#if A\nclass X {\n#else\nclass Y {\n#endif\n}", "#sourceLocation(file: \"x\", line: 1)",
            "#Preview { Text(\"{\") }",
            "extension [Int] { }", "extension Array<Int>.Index: P {}", "typealias A = (B) -> C; typealias D<T> = E<T>",
            "let x = a ? b : c; let y = a??.b!.c", "class var a: Int { 1 }",
            "func f() async throws(E) -> some P { g() }",
            "\u{FEFF}import A", "let é = \"日本{\"",
        ])
    func lexing(_ prefix: String) {
        let near =
            "class A: CLLocationManagerDelegate { func locationManager(_ m: CLLocationManager!, didExitRegion r: CLRegion) {} }"
        let findings = DelegateCheck.findings(in: [SourceText(path: "a", text: prefix + "\n" + near)])
        #expect(findings.map(\.kind) == [.signature])
    }

    @Test("Truncated, changed and shuffled sources cause no trap")
    func mutation() {
        var random = SplitMix(state: 20_261_121)
        let all = SignatureTests.wrong + SignatureTests.misnamed + SignatureTests.right + SignatureTests.notOurs
        let examples = (all + HierarchyTests.missed + HierarchyTests.conforming + ConditionTests.kept).map {
            Array($0.source.utf8)
        }
        let marks = Array("{}()[]<>\"\"\"##\\/*`@:,.!?&|=-\n".utf8)
        for round in 0..<1500 {
            var bytes = examples[round % examples.count]
            for _ in 0..<(1 + Int(random.next() % 6)) {
                let place = Int(random.next() % UInt64(bytes.count + 1))
                switch random.next() % 5 {
                case 0: bytes.removeSubrange(place..<min(bytes.count, place + Int(random.next() % 40)))
                case 1: bytes.insert(marks[Int(random.next() % UInt64(marks.count))], at: place)
                case 2 where place < bytes.count: bytes[place] ^= UInt8(1 << (random.next() % 8))
                case 3 where place < bytes.count: bytes[place] = UInt8(truncatingIfNeeded: random.next())
                default:
                    bytes.insert(
                        contentsOf: examples[Int(random.next() % UInt64(examples.count))].suffix(60), at: place)
                }
            }
            _ = DelegateCheck.findings(in: [SourceText(path: "a", utf8: bytes)])
        }
    }

    /// Each source would take minutes, or overflow the stack, if the check were slower than linear or recursive. Rows
    /// of backticks, of hashes and of unclosed generic functions are omitted, because the parser needs quadratic time
    /// for them.
    @Test(
        "The time for deep and long sources grows linearly",
        arguments: [
            "{", "(", "[", "<", "}", ")", "\"", "\"\\(", "#\"\"\"", "/", "(/", "/\\", "/*", "#if a\n",
            "#else\n",
            "#endif\n", "#if (", "class A: B { ", "class A<", "func f(", "func a(_ a: A", "func f() -> ",
            "private ",
            "@a(", "a.", "class A.", "extension A.A.", "typealias A = A & ", "protocol P: Q {}\n", "class A: A.B.C, ",
            "func locationManager(_ m: CLLocationManager!, didExitRegion r: CLRegion) {}\n", "func f(_ a: ((",
            "#if os(iOS)\nstartRangingBeacons\n", "\r", "é", "\0",
        ])
    func size(_ piece: String) {
        for frame in ["", "class A: CLLocationManagerDelegate { ", "#if ", "func locationManager(_ m: "] {
            func time(of size: Int) -> Duration {
                let text = frame + String(repeating: piece, count: size / piece.utf8.count)
                // Measure this thread's time, because other programs affect the wall-clock time.
                let before = processorTime()
                _ = DelegateCheck.findings(in: [SourceText(path: "a", text: text)])
                return processorTime() - before
            }
            // In quadratic time, eight times the size would take 64 times as long.
            let (small, large) = (time(of: 1_250), time(of: 10_000))
            #expect(large < small * 24 + .milliseconds(200), "\(small) \(large)")
        }
    }

    /// Returns the processor time of this thread.
    private func processorTime() -> Duration {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }

    @Test("JSON is valid, whatever a path contains")
    func json() throws {
        let source = SourceText(path: "a\"\\\n\u{1}é.swift", text: "#if os(iOS)\nCLMonitor(\"\")\n#endif")
        let finding = try #require(DelegateCheck.findings(in: [source]).first)
        #expect(!finding.json.contains("\n"))
        let object = try JSONSerialization.jsonObject(with: Data(finding.json.utf8)) as? [String: Any]
        #expect(object?["file"] as? String == source.path)
        #expect(object?["kind"] as? String == "condition")
        #expect(object?["line"] as? Int == 1)
    }

    /// A reproducible sequence of pseudorandom numbers.
    private struct SplitMix {
        var state: UInt64

        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var mixed = state
            mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
            mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
            return mixed ^ (mixed >> 31)
        }
    }
}
