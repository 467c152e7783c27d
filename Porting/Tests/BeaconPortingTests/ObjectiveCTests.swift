import Testing

@Suite("Code for the Objective-C runtime")
struct ObjectiveCTests {
    @Test("Objective-C features are ported, or left for a person", arguments: attributes + requirements + selectors)
    func port(_ example: PortExample) {
        example.check()
    }

    static let attributes: [PortExample] = [
        PortExample(
            "on the line", "@objc class A { @objc(foo:) func f(_ a: Int) {} }",
            becomes: "class A { func f(_ a: Int) {} }"),
        PortExample(
            "on its own line", "    // A\n    @objcMembers\n    final class A {}\n",
            becomes: "    // A\n    final class A {}\n"),
        PortExample(
            "before another", "@objc @available(iOS 13, *) func f() {}", becomes: "@available(iOS 13, *) func f() {}"),
        PortExample("after another", "@MainActor @objc\nclass A {}", becomes: "@MainActor \nclass A {}"),
        PortExample("dynamic stays", "class A { @objc dynamic var a = 1 }", becomes: "class A { dynamic var a = 1 }"),
        PortExample("a protocol of classes", "@objc protocol P {}", becomes: "protocol P: AnyObject {}"),
        PortExample(
            "one that has a parent", "@objc public protocol P: Q {}", becomes: "public protocol P: AnyObject, Q {}"),
        PortExample(
            "already for classes", "@objc protocol P: NSObjectProtocol {}", becomes: "protocol P: NSObjectProtocol {}"),
        PortExample("where Linux is excluded", "#if canImport(UIKit)\n@objc class A {}\n#endif"),
        PortExample("in a string", "let a = \"@objc\" // @objc"),
        PortExample(
            "a main class", "@UIApplicationMain class A {}", decides: "1: '@UIApplicationMain' does not exist on Linux"),
        PortExample("a managed property", "class A { @NSManaged var a: Int }", decides: "1: '@NSManaged'"),
    ]

    static let requirements: [PortExample] = [
        PortExample(
            "optional requirements get a default",
            "@objc public protocol P {\n    @objc optional func a(_ b: Int)\n    @objc optional func c() -> Int?\n    @objc optional var d: Int? { get }\n    func e()\n}\n",
            becomes: """
                public protocol P: AnyObject {
                    func a(_ b: Int)
                    func c() -> Int?
                    var d: Int? { get }
                    func e()
                }

                extension P {
                    public func a(_ b: Int) {}
                    public func c() -> Int? { nil }
                    public var d: Int? { nil }
                }

                """),
        PortExample(
            "a result that is not optional", "@objc protocol P {\n    @objc optional func a() -> Int\n}",
            becomes: "protocol P: AnyObject {\n    optional func a() -> Int\n}",
            decides: "2: the optional requirement of 'P' has a result that is not optional"),
        PortExample(
            "calls",
            "@objc protocol P { @objc optional func a(_ b: Int) }\nfunc f(_ p: P?) { p?.a?(1); p!.a!(2); p?.b?(3) }",
            becomes:
                "protocol P: AnyObject { func a(_ b: Int) }\n\nextension P {\n    func a(_ b: Int) {}\n}\nfunc f(_ p: P?) { p?.a(1); p!.a(2); p?.b?(3) }"
        ),
    ]

    static let selectors: [PortExample] = [
        PortExample(
            "a timer",
            "class A {\n    func f() { t = Timer.scheduledTimer(timeInterval: 1 + 2, target: self, selector: #selector(g), userInfo: nil, repeats: true) }\n    func g() {}\n}",
            becomes:
                "class A {\n    func f() { t = Timer.scheduledTimer(withTimeInterval: 1 + 2, repeats: true) { [weak self] _ in self?.g() } }\n    func g() {}\n}"
        ),
        PortExample(
            "an observer",
            "extension A {\n    func f() {\n        NotificationCenter.default.addObserver(self, selector: #selector(self.g(_:)), name: .x, object: nil)\n    }\n    func g(_ n: Notification) {}\n}",
            becomes:
                "extension A {\n    func f() {\n        _ = NotificationCenter.default.addObserver(forName: .x, object: nil, queue: nil) { [weak self] notification in self?.g(notification) }\n    }\n    func g(_ n: Notification) {}\n}"
        ),
        PortExample(
            "a label",
            "class A { func f() { t = Timer(timeInterval: 1, target: self, selector: #selector(A.g(timer:)), userInfo: nil, repeats: b) }; func g(timer: Timer) {} }",
            becomes:
                "class A { func f() { t = Timer(timeInterval: 1, repeats: b) { [weak self] timer in self?.g(timer: timer) } }; func g(timer: Timer) {} }"
        ),
        PortExample(
            "an external method",
            "class A { func f() { Timer.scheduledTimer(timeInterval: 1, target: self, selector: #selector(g), userInfo: nil, repeats: true) } }",
            decides: "1: '#selector(g)' needs Objective-C"),
        PortExample("a key path", "let a = #keyPath(A.b)", decides: "1: '#keyPath(A.b)' needs Objective-C"),
    ]
}
