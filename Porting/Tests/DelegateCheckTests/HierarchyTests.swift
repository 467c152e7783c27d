import DelegateCheck
import Testing

@Suite("Callbacks and conformances in different places")
struct HierarchyTests {
    static let enter = "func locationManager(_ m: CLLocationManager, didEnterRegion r: CLRegion) {}"
    static let near = "func locationManager(_ m: CLLocationManager!, didEnterRegion r: CLRegion!) {}"

    /// Lines of dashes divide each example into files.
    @Test("Declarations in different places are combined", arguments: missed + reached + conforming)
    func hierarchy(_ example: Example) {
        let files = example.source.split(separator: "---\n").enumerated().map {
            SourceText(path: "\($0.offset)", text: String($0.element))
        }
        let findings = DelegateCheck.findings(in: files)
        let found = findings.map { "\($0.path):\($0.line) \($0.kind.rawValue)" }
        #expect(found == example.expected, "\(findings.map(\.description))")
        // The order of the files must not matter.
        #expect(DelegateCheck.findings(in: files.reversed()) == findings)
    }

    @Test("The finding names the class to change")
    func message() throws {
        let source = "class Base: NSObject, CLLocationManagerDelegate {}\nclass Sub: Base { \(Self.enter) }"
        let finding = try #require(DelegateCheck.findings(in: [SourceText(path: "a", text: source)]).first)
        #expect(
            finding.description
                == "a:2:19: warning: 'locationManager(_:didEnterRegion:)' is never called on Linux: 'Base' conforms to "
                + "CLLocationManagerDelegate and does not declare it, and 'Sub' only inherits the conformance; declare "
                + "'func locationManager(_ manager: CLLocationManager, didEnterRegion region: CLRegion) {}' in the body of "
                + "'Base' and override it here")
    }

    @Test("Files of context have no findings")
    func context() {
        let base = SourceText(
            path: "base", text: "open class Base: NSObject, CLLocationManagerDelegate { \(Self.near) }", isContext: true
        )
        let sub = SourceText(path: "sub", text: "class Sub: Base { \(Self.enter) }")
        #expect(DelegateCheck.findings(in: [base, sub]).map(\.path) == ["sub"])
    }

    static let missed: [Example] = [
        Example(
            "callback in a subclass",
            "class Base: NSObject, CLLocationManagerDelegate {}\nclass Sub: Base {\n\(enter)\n}", finds: "0:3 subclass"),
        Example(
            "three files, conformance in an extension",
            "extension Base: CLLocationManagerDelegate {}\n---\nclass Sub: Base { \(enter) }\n---\nclass Base: NSObject {}",
            finds: "1:1 subclass"),
        Example(
            "callback in an extension of a subclass",
            "class Base: NSObject, CLLocationManagerDelegate {}\nclass Sub: Base {}\nextension Sub { \(enter) }",
            finds: "0:3 subclass"),
        Example(
            "two classes down, reported once",
            """
            class A: NSObject, CLLocationManagerDelegate {}
            class B: A { \(enter) }
            class C: B { override \(enter) }
            """, finds: "0:2 subclass"),
        Example(
            "generic base",
            "class Base<T>: NSObject, CLLocationManagerDelegate {}\nclass Sub: Base<Int> { \(enter) }",
            finds: "0:2 subclass"),
        Example(
            "nested base",
            "enum Kit { class Base: NSObject, CLLocationManagerDelegate {} }\nclass Sub: Kit.Base { \(enter) }",
            finds: "0:2 subclass"),
        Example(
            "a repeated protocol does not help",
            """
            protocol Listener: CLLocationManagerDelegate {}
            class Base: NSObject, CLLocationManagerDelegate {}
            class Sub: Base, Listener { \(enter) }
            """, finds: "0:3 subclass"),
        Example(
            "a similar method in a subclass",
            "class Base: NSObject, CLLocationManagerDelegate {}\nclass Sub: Base { \(near) }", finds: "0:2 signature"),
    ]

    static let reached: [Example] = [
        Example(
            "override",
            "class Base: NSObject, CLLocationManagerDelegate { \(enter) }\nclass Sub: Base { override \(enter) }"),
        Example(
            "implemented in a superclass of the conforming class",
            """
            class A: NSObject { \(enter) }
            class B: A, CLLocationManagerDelegate {}
            class C: B { override \(enter) }
            """),
        Example(
            "conformance of the class with the callback",
            "class A: NSObject {}\nclass B: A, CLLocationManagerDelegate { \(enter) }"),
        Example(
            "other method of a subclass",
            "class Base: NSObject, CLLocationManagerDelegate {}\nclass Sub: Base { func start(_ m: CLLocationManager) {} }"
        ),
        Example(
            "two private classes with the same name",
            """
            private class Base: NSObject, CLLocationManagerDelegate {}
            ---
            private class Base: NSObject {}
            class Sub: Base { \(enter) }
            """),
        Example("cycle", "class A: B { \(enter) }\nclass B: A, CLLocationManagerDelegate { \(enter) }"),
        Example(
            "itself", "class A: A, CLLocationManagerDelegate { \(enter) }\nprotocol P: P, CLLocationManagerDelegate {}"),
    ]

    static let conforming: [Example] = [
        Example(
            "extension",
            "class A: NSObject {}\n---\nextension A: @preconcurrency CLLocationManagerDelegate {\n\(near)\n}",
            finds: "1:2 signature"),
        Example(
            "extension of an external class",
            "extension Controller: CoreLocation.CLLocationManagerDelegate { \(near) }", finds: "0:1 signature"),
        Example(
            "protocol that refines", "protocol P: CLLocationManagerDelegate {}\nclass A: NSObject, P { \(near) }",
            finds: "0:2 signature"),
        Example(
            "extension of such a protocol", "protocol P: CLLocationManagerDelegate {}\nextension P { \(near) }",
            finds: "0:2 signature"),
        Example(
            "alias of a composition",
            "typealias D = CLLocationManagerDelegate & CBPeripheralManagerDelegate\nclass A: NSObject, D { \(near) }",
            finds: "0:2 signature"),
        Example(
            "composition", "class A: NSObject, CBPeripheralManagerDelegate & CLLocationManagerDelegate { \(near) }",
            finds: "0:1 signature"),
        Example(
            "superclass", "class A: NSObject, CLLocationManagerDelegate {}\nclass B: A { \(near) }",
            finds: "0:2 signature"),
        Example(
            "class in a function", "func f() {\n  class A: NSObject, CLLocationManagerDelegate {\n    \(near)\n  }\n}",
            finds: "0:3 signature"),
        Example(
            "class in a closure", "f(a: 1, b: { class A: NSObject, CLLocationManagerDelegate { \(near) } })",
            finds: "0:1 signature"),
        Example(
            "actor", "actor A: NSObject, CLLocationManagerDelegate { nonisolated \(near) }", finds: "0:1 signature"),
        Example("external base that may conform", "class A: BeaconKitScanner { \(near) }", finds: "0:1 signature"),
        Example(
            "external base with a doubtful method",
            "class A: BeaconKitScanner { func locationManager(_ m: CLLocationManager, didEnter r: CLRegion) {} }"),
        Example("Apple's base that does not conform", "class A: UIViewController { \(near) }"),
    ]
}
