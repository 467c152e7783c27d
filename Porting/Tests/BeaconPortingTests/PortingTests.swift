import BeaconPorting
import DelegateCheck
import Testing

@Suite("Porting")
struct PortingTests {
    @Test("The report has the line numbers of the original")
    func lines() {
        let file = PortExample.port(
            "import UIKit\nimport Foundation\n\n@objc class A {\n    func f() { if a == UIColor.red {} }\n}\n")
        #expect(file.changes.map(\.line) == [1, 4])
        #expect(file.decisions.map(\.line) == [5])
    }

    @Test("A callback that stays silent is left for a person")
    func delegates() {
        let file = PortExample.port(
            "import UIKit\nclass A: NSObject, CLLocationManagerDelegate {\n    func locationManager(_ m: CLLocationManager, didExitRegion r: CLRegion!) {}\n}"
        )
        #expect(file.decisions.map(\.line) == [3])
    }

    @Test("Names of other files count")
    func module() {
        let files = Porting.port([
            SourceText(path: "a", text: "func f(_ p: P?) { p?.a?() }\nlet b = UIThing()"),
            SourceText(path: "b", text: "@objc protocol P { @objc optional func a() }\nstruct UIThing {}"),
            SourceText(path: "c", text: "@objc class C {}", isContext: true),
        ])
        #expect(files.map(\.path) == ["a", "b"])
        #expect(String(decoding: files[0].ported, as: UTF8.self) == "func f(_ p: P?) { p?.a() }\nlet b = UIThing()")
        #expect(files[0].decisions == [])
    }

    @Test(
        "All rules on truncated, changed and shuffled sources: no trap, and a second port changes nothing"
    )
    func mutation() {
        var random = SplitMix(state: 20_261_127)
        let all =
            ConditionRuleTests.admitted + ConditionRuleTests.left + ObjectiveCTests.attributes
            + ObjectiveCTests.requirements + ObjectiveCTests.selectors
        let sources =
            (all + FrameworkTests.imports + FrameworkTests.foundation + FrameworkTests.logging + FrameworkTests.kept)
            .map {
                Array($0.source.utf8)
            }
            + ["Network", "CryptoKit", "AudioToolbox", "Alamofire"].enumerated().map { number, name in
                EveryFrameworkTests.file(
                    EveryFrameworkTests.imports(name, "os", form: number), number: number, using: "SystemSoundID"
                ).utf8
            }
        let conditions = ["", "#if os(iOS)\n", "#if DEBUG\n", "#if !os(iOS)\n#else\n", "#if canImport(UIKit)\n"]
        let marks = Array("{}()[]<>\"#\\/*`@:,.!?&|=-\r\n".utf8)
        for round in 0..<400 {
            let condition = conditions[round % conditions.count]
            var bytes = Array(condition.utf8) + sources[round % sources.count] + Array("\n".utf8)
            bytes += sources[Int(random.next() % UInt64(sources.count))]
            if !condition.isEmpty { bytes += Array("\n#endif\n".utf8) }
            // Leave a third of them unchanged.
            for _ in 0..<Int(random.next() % 3) * Int(random.next() % 3) {
                let place = Int(random.next() % UInt64(bytes.count + 1))
                switch random.next() % 4 {
                case 0: bytes.removeSubrange(place..<min(bytes.count, place + Int(random.next() % 30)))
                case 1: bytes.insert(marks[Int(random.next() % UInt64(marks.count))], at: place)
                case 2 where place < bytes.count: bytes[place] ^= UInt8(1 << (random.next() % 8))
                default:
                    bytes.insert(contentsOf: sources[Int(random.next() % UInt64(sources.count))].suffix(40), at: place)
                }
            }
            let once = Porting.port([SourceText(path: "a", utf8: bytes)])[0]
            let twice = Porting.port([SourceText(path: "a", utf8: once.ported)])[0]
            #expect(twice.changes == [], "\(String(decoding: bytes, as: UTF8.self))")
        }
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
