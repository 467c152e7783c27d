import DelegateCheck
import Testing

@testable import BeaconPorting

/// Own types, functions and attributes of every name that a rule knows.
@Suite("The module's own names come first")
struct OwnNameTests {
    static let types: [String] = {
        let prefixed = FrameworkNames.prefixes.map { $0.prefix + "Gadget" }
        let others = ["CFAbsoluteTime", "CFTimeInterval", "UserDefaults", "Timer", "NotificationCenter", "Logger"]
        let attributes = AttributeRule.removed.union(AttributeRule.remedies.keys).subtracting(["objc", "objcMembers"])
        let all: [String] =
            Array(FrameworkNames.frameworks.keys) + prefixed + others + Array(attributes)
            + Array(FrameworkNames.names(of: "FoundationNetworking")) + Array(StandInRule.texts.keys)
            + Array(FoundationRule.functions)
        return Set(all).sorted()
    }()

    static func uses(_ name: String) -> String {
        """
        final class Scanner: NSObject, CLLocationManagerDelegate {
            var value: \(name)?
            let log = \(name)()
            func start() {
                let made = \(name)()
                made.use()
                log.use()
                \(name).shared.use()
                print(made, \(name)())
                if let value { value.use() }
                manager.startRangingBeacons(satisfying: constraint)
            }
            func make() -> \(name) { \(name)() }
        }

        """
    }

    static func type(_ name: String) -> String {
        "final class \(name) {\n    static let shared = \(name)()\n    func use() {}\n}\nextension \(name) {}\n"
    }

    @Test("An own type stays, in its file and in others", arguments: types)
    func type(_ name: String) {
        let frameworks = "import CoreLocation\n#if canImport(os)\nimport os\nimport UIKit\n#endif\n"
        for imports in ["import CoreLocation\n", frameworks] {
            let alone = PortExample.port(imports + Self.type(name) + Self.uses(name))
            #expect(alone.changes == [] && alone.decisions == [], "\(alone.changes) \(alone.decisions)")
            let files = Porting.port([
                SourceText(path: "a", text: imports + Self.uses(name)), SourceText(path: "b", text: Self.type(name)),
            ])
            #expect(files.flatMap(\.changes) == [] && files.flatMap(\.decisions) == [], "\(files.map(\.changes))")
        }
    }

    @Test("An own function, wrapper and type parameter stays", arguments: types)
    func others(_ name: String) {
        let sources = [
            "func \(name)(_ a: Int, _ b: () -> Void) {}\nfunc f() { \(name)(1) { g() } }\nlet a = h(\(name)(2) {})\n",
            "@propertyWrapper struct \(name) { var wrappedValue = 1 }\nstruct A {\n    @\(name) var a\n}\n",
            "struct A<\(name)> {\n    var a: \(name)\n    var b: [\(name)] = []\n}\n",
            "protocol P {\n    associatedtype \(name)\n    var a: \(name) { get }\n}\n",
            "enum E {\n    struct \(name) {}\n    static var a: \(name) { \(name)() }\n}\n",
        ]
        for source in sources where !["String"].contains(name) {
            let file = PortExample.port("import CoreLocation\n" + source)
            #expect(file.changes == [] && file.decisions == [], "\(source) \(file.changes) \(file.decisions)")
        }
    }

    @Test(
        "An own method stays",
        arguments: [
            "setValue(_ a: Int, forKey b: String)", "value(forKeyPath a: String)", "responds(to a: Int)",
            "observe(_ a: AnyKeyPath)", "setValuesForKeys(_ a: Int)",
        ])
    func method(_ signature: String) {
        let labels = ["forKeyPath a": "forKeyPath: k", "to a": "to: 1", "forKey b": "1, forKey: k"]
        let arguments = labels.first { signature.contains($0.key) }?.value ?? "\\.a"
        let call = "func f(_ a: A) { a.\(signature.prefix { $0 != "(" })(\(arguments)) }"
        let file = PortExample.port("class A {\n    func \(signature) {}\n}\n\(call)\n")
        #expect(file.changes == [] && file.decisions == [], "\(file.decisions)")
    }
}
