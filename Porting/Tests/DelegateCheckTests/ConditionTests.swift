import DelegateCheck
import Testing

@Suite("Beacon code in a condition")
struct ConditionTests {
    static let ranging = "manager.startRangingBeacons(satisfying: constraint)"

    @Test("Beacon code excluded on Linux is found", arguments: kept + admitted)
    func condition(_ example: Example) {
        let findings = DelegateCheck.findings(in: [SourceText(path: "a.swift", text: example.source)])
        #expect(findings.map { "\($0.line) \($0.kind.rawValue)" } == example.expected, "\(findings.map(\.description))")
    }

    @Test(
        "The finding has a condition that includes Linux",
        arguments: [
            ("#if os(iOS)", "#if os(iOS) || os(Linux)"),
            ("#if canImport(UIKit)", "#if canImport(CoreLocation)"),
            ("#if os(iOS) && !targetEnvironment(simulator)", "#if canImport(CoreLocation)"),
        ])
    func message(_ directive: String, _ replacement: String) throws {
        let source = SourceText(path: "a.swift", text: "\(directive)\n\(Self.ranging)\n#endif")
        let finding = try #require(DelegateCheck.findings(in: [source]).first)
        #expect(
            finding.description
                == "a.swift:1:1: warning: '\(directive)' excludes the beacon code below it on Linux "
                + "('startRangingBeacons' on line 2); include Linux with '\(replacement)', and move only the "
                + "Apple-specific code into a separate condition"
        )
        #expect(finding.replacement == replacement)
    }

    static func example(_ condition: String, finds: String...) -> Example {
        var example = Example(condition, "\(condition)\n    \(ranging)\n#endif\n")
        example.expected = finds
        return example
    }

    static let kept: [Example] = [
        example("#if os(iOS)", finds: "1 condition"),
        example("#if (os(iOS))", finds: "1 condition"),
        example("#if os(iOS) || os(macOS)", finds: "1 condition"),
        example("#if os(iOS) && DEBUG", finds: "1 condition"),
        example("#if os(iOS) || os(tvOS) // more", finds: "1 condition"),
        example("#if canImport(UIKit)", finds: "1 condition"),
        example("#if canImport(UIKit.UIView)", finds: "1 condition"),
        example("#if canImport(Combine) && canImport(CoreLocation)", finds: "1 condition"),
        example("#if !targetEnvironment(simulator) && os(iOS)", finds: "1 condition"),
        example("#if targetEnvironment(simulator)", finds: "1 condition"),
        example("#if os(macOS)\n#else\n#if os(iOS)", finds: "3 condition"),
        example("#if os(macOS)\n#elseif os(iOS)", finds: "2 condition"),
        example("#if !os(iOS)\n#else", finds: "2 condition"),
        Example(
            "a whole file, once", "#if os(iOS)\nimport UIKit\n#if DEBUG\n\(ranging)\n#endif\n\(ranging)\n#endif",
            finds: "1 condition"),
        Example(
            "a class", "#if canImport(UIKit)\nclass A: NSObject, CBPeripheralManagerDelegate {}\n#endif",
            finds: "1 condition"),
        Example(
            "a callback",
            "class A {\n#if os(iOS)\nfunc locationManager(_ m: CLLocationManager, didEnterRegion r: CLRegion) {}\n#endif\n}",
            finds: "2 condition"),
        Example(
            "advertising", "var p: CBPeripheralManager?\n#if os(iOS)\np.startAdvertising(data)\n#endif",
            finds: "2 condition"),
        Example("no end", "#if os(iOS)\n\(ranging)", finds: "1 condition"),
        Example(
            "a wrong signature, but excluded on Linux anyway",
            "#if os(iOS)\nclass A: NSObject, CLLocationManagerDelegate { func locationManager(_ m: CLLocationManager!, didEnterRegion r: CLRegion!) {} }\n#endif",
            finds: "1 condition"),
    ]

    static let admitted: [Example] = [
        example("#if os(iOS) || os(Linux)"),
        example("#if !os(Linux)"),
        example("#if canImport(CoreLocation)"),
        example("#if canImport(CoreBluetooth)"),
        example("#if DEBUG"),
        example("#if !targetEnvironment(simulator)"),
        example("#if !os(watchOS)"),
        example("#if os(macOS)"),
        example("#if os(watchOS)"),
        example("#if false"),
        example("#if swift(>=5.0)"),
        example("#if FLAG && (OTHER || !os(tvOS))"),
        example("#if os(iOS)\nimport UIKit\n#else"),
        Example("other code", "#if os(iOS)\nUIApplication.shared.open(url)\n#endif"),
        Example(
            "a color for a proximity",
            "#if canImport(UIKit)\nextension CLProximity { var color: UIColor { .red } }\n#endif"),
        Example(
            "a word in a comment or string", "#if os(iOS)\n// startRangingBeacons\nprint(\"didEnterRegion\")\n#endif"),
        Example("code for both", "#if os(iOS)\n\(ranging)\n#else\n\(ranging)\n#endif"),
        Example(
            "code for the simulator instead", "#if targetEnvironment(simulator)\n\(ranging)\n#else\n\(ranging)\n#endif"),
        Example(
            "a type of the same name for Linux",
            "#if os(iOS)\nclass Radio { func f() { \(ranging) } }\n#endif\n#if !os(iOS)\nclass Radio {}\n#endif"),
        Example("another framework's advertising", "#if os(iOS)\nsession.startAdvertising(data)\n#endif"),
    ]
}
