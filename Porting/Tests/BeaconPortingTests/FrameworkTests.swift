import Testing

@Suite("Frameworks that are missing or different on Linux")
struct FrameworkTests {
    @Test("Frameworks are ported, or left for a person", arguments: imports + foundation + logging + names + kept)
    func port(_ example: PortExample) {
        example.check()
    }

    static let imports: [PortExample] = [
        PortExample(
            "one", "import UIKit\nimport CoreLocation\n",
            becomes: "#if canImport(UIKit)\nimport UIKit\n#endif\nimport CoreLocation\n"),
        PortExample(
            "one that imports Foundation", "import UIKit // views\nlet a = UUID()",
            becomes: "#if canImport(UIKit)\nimport UIKit // views\n#else\nimport Foundation\n#endif\nlet a = UUID()"),
        PortExample(
            "one that imports Core Location", "import MapKit\nlet a = CLLocationManager()",
            becomes:
                "#if canImport(MapKit)\nimport MapKit\n#else\nimport CoreLocation\n#endif\nlet a = CLLocationManager()"),
        PortExample(
            "a part of one", "  @preconcurrency import class UIKit.UIView\nimport Foundation",
            becomes: "  #if canImport(UIKit)\n  @preconcurrency import class UIKit.UIView\n  #endif\nimport Foundation"),
        PortExample(
            "the C library", "import Darwin",
            becomes: "#if canImport(Darwin)\nimport Darwin\n#else\nimport Glibc\n#endif"),
        PortExample("a part of ours", "import CoreLocation.CLRegion"),
        PortExample("a package", "import Alamofire", decides: "1: 'Alamofire' is a package"),
        PortExample("a package where it exists", "#if canImport(Alamofire)\nimport Alamofire\n#endif"),
        PortExample(
            "several", "import UIKit\nimport Network\n\nimport CoreML\nimport Foundation",
            becomes:
                "#if canImport(UIKit)\nimport UIKit\nimport Network\n#endif\n\n#if canImport(CoreML)\nimport CoreML\n#endif\nimport Foundation"
        ),
        PortExample(
            "Combine of Foundation", "import CoreBluetooth\nclass A: ObservableObject {}",
            becomes: "import CoreBluetooth\nimport Combine\nclass A: ObservableObject {}"),
        PortExample("Combine", "import Combine"),
        PortExample("Rx", "import RxSwift", decides: "1: 'RxSwift' is a package"),
        PortExample("two on a line", "import Foundation; import UIKit", decides: "1: 'UIKit' does not exist on Linux"),
        PortExample(
            "the network", "import Foundation\nlet a = URLSession.shared",
            becomes:
                "import Foundation\n#if canImport(FoundationNetworking)\nimport FoundationNetworking\n#endif\nlet a = URLSession.shared"
        ),
    ]

    static let foundation: [PortExample] = [
        PortExample(
            "defaults", "UserDefaults.standard.setValue(1, forKey: k)",
            becomes: "UserDefaults.standard.set(1, forKey: k)"),
        PortExample(
            "defaults read", "let a = self.defaults.value(forKey: k)",
            becomes: "let a = self.defaults.object(forKey: k)"),
        PortExample("a dictionary", "let a = dictionary.value(forKey: k)"),
        PortExample("a header", "request.setValue(a, forHTTPHeaderField: b)"),
        PortExample("coding", "a.setValue(1, forKey: k)", decides: "1: 'setValue' needs key-value coding"),
        PortExample("observing", "a.observe(\\.b) { _, _ in }", decides: "1: 'observe' needs key-value observing"),
        PortExample("a pool", "func f() { autoreleasepool { g() } }", becomes: "func f() { do { g() } }"),
        PortExample("a pool with parentheses", "autoreleasepool() { g() }", becomes: "do { g() }"),
        PortExample("a pool with a value", "let a = autoreleasepool { 1 }", decides: "1: 'autoreleasepool'"),
        PortExample("a pool that returns", "autoreleasepool { if a { return }; g() }", decides: "1: 'autoreleasepool'"),
        PortExample(
            "a clock", "let a: CFAbsoluteTime = CFAbsoluteTimeGetCurrent()",
            becomes: "let a: TimeInterval = Date().timeIntervalSinceReferenceDate"),
        PortExample(
            "a log", "NSLog(\"%@ %d %@\", a.b, 1, \"c\")", becomes: "NSLog(\"%@ %d %@\", \"\\(a.b)\", 1, \"c\")"),
        PortExample(
            "a log of an error", "NSLog(\"%@\", e as CVarArg)", becomes: "NSLog(\"%@\", \"\\(e)\")"),
        PortExample(
            "a format", "let a = String(format: \"%@ %@\", b, e as CVarArg)",
            becomes: "let a = String(format: \"%@ %@\", b, \"\\(e)\")"),
        PortExample("a predicate", "let a = NSPredicate(format: \"a\")", decides: "1: a predicate"),
        PortExample("a cast", "let a = b as! [NSObject: AnyObject]", decides: "1: a Foundation dictionary"),
    ]

    static let logging: [PortExample] = [
        PortExample(
            "a logger",
            "struct A {\n    let l = Logger(subsystem: \"a\", category: \"b\")\n    func f() {\n        l.info(\"c\")\n    }\n}",
            becomes: """
                struct A {
                    #if canImport(os)
                    let l = Logger(subsystem: "a", category: "b")
                    #endif
                    func f() {
                        #if canImport(os)
                        l.info("c")
                        #endif
                    }
                }
                """),
        PortExample(
            "swift-log", "import Logging\nlet l = Logger(label: \"a\")\nl.info(\"c\")",
            decides: "1: 'Logging' is a package"),
        PortExample(
            "an argument", "import os\nlet a = b(c, Logger(subsystem: \"d\", category: \"e\"))\nif a { f() }",
            becomes:
                "#if canImport(os)\nimport os\n#endif\n#if canImport(os)\nlet a = b(c, Logger(subsystem: \"d\", category: \"e\"))\n#endif\nif a { f() }",
            decides: "3: 'a' is declared only where os exists"),
        PortExample("a call", "os_log(\"a\")", becomes: "#if canImport(os)\nos_log(\"a\")\n#endif"),
        PortExample("a call in a row", "a { os_log(\"a\") }", decides: "1: 'os_log' of os does not exist on Linux"),
    ]

    static let names: [PortExample] = [
        PortExample(
            "a view", "if a == UIColor.red { f() }\nreturn UIColor.red",
            decides: "1: 'UIColor' of UIKit does not exist on Linux (on 2 lines)"),
        PortExample("ours", "struct UIThing {}\nlet a = UIThing()\nlet b: UInt = CGFloat(1) + CGRect.zero"),
        PortExample("a member", "let a = b.UIThing"),
    ]

    /// Statements and members that are restricted to Apple's systems.
    static let kept: [PortExample] = [
        PortExample(
            "a property and its uses",
            "class A {\n    @IBOutlet weak var a: UILabel!\n    var b: UIView?\n    func f() {\n        a.text = \"\"\n        self.b = nil\n        c()\n    }\n}",
            becomes: """
                class A {
                    #if canImport(UIKit)
                    @IBOutlet weak var a: UILabel!
                    var b: UIView?
                    #endif
                    func f() {
                        #if canImport(UIKit)
                        a.text = ""
                        self.b = nil
                        #endif
                        c()
                    }
                }
                """),
        PortExample(
            "a local name belongs to its block",
            "func f() {\n    let a = UNMutableNotificationContent()\n    a.b()\n}\nfunc g(_ a: Int) {\n    a.b()\n}",
            becomes:
                "func f() {\n    #if canImport(UserNotifications)\n    let a = UNMutableNotificationContent()\n    a.b()\n    #endif\n}\nfunc g(_ a: Int) {\n    a.b()\n}"
        ),
        PortExample(
            "a view",
            "#if canImport(SwiftUI)\nimport SwiftUI\n#endif\n\nstruct A: View {\n    var body: some View { Text(\"\") }\n}\n#Preview {\n    A()\n}",
            becomes:
                "#if canImport(SwiftUI)\nimport SwiftUI\n#endif\n\n#if canImport(SwiftUI)\nstruct A: View {\n    var body: some View { Text(\"\") }\n}\n#Preview {\n    A()\n}\n#endif"
        ),
        PortExample(
            "a table with beacon code",
            "class A: UITableViewController {\n    func f() { m.startRangingBeacons(satisfying: c) }\n}",
            decides: "1: 'UITableViewController' of UIKit"),
        PortExample(
            "a controller with beacon code",
            "class A: UIViewController {\n    override func viewDidLoad() {\n        super.viewDidLoad()\n        view.a = b\n        m.startRangingBeacons(satisfying: c)\n    }\n}\n",
            becomes: """
                class A: UIViewController {
                    override func viewDidLoad() {
                        super.viewDidLoad()
                        #if canImport(UIKit)
                        view.a = b
                        #endif
                        m.startRangingBeacons(satisfying: c)
                    }
                }
                #if !canImport(UIKit)
                class UIViewController: NSObject { func viewDidLoad() {} }
                #endif

                """, decides: "1: 'A' has an empty 'UIViewController' on Linux"),
        PortExample(
            "the state of the application",
            "func f() {\n    guard UIApplication.shared.applicationState == .active else { return }\n    UIApplication.shared.open(a)\n    m.startRangingBeacons(satisfying: c)\n}\n",
            becomes:
                "func f() {\n    guard UIApplication.shared.applicationState == .active else { return }\n    #if canImport(UIKit)\n    UIApplication.shared.open(a)\n    #endif\n    m.startRangingBeacons(satisfying: c)\n}\n"
                + application),
        PortExample(
            "an app delegate",
            """
            @UIApplicationMain
            class A: UIResponder, UIApplicationDelegate, CLLocationManagerDelegate {
                let m = CLLocationManager()
                func application(_ application: UIApplication, didFinishLaunchingWithOptions options: [UIApplication.LaunchOptionsKey: Any]?) -> Bool {
                    m.startRangingBeacons(satisfying: c)
                    application.registerForRemoteNotifications()
                    return true
                }
                func application(_ application: UIApplication, configurationForConnecting a: UISceneSession) {}
                func applicationWillTerminate(_ application: UIApplication) {}
            }

            """,
            becomes: """
                @main
                class A: UIResponder, UIApplicationDelegate, CLLocationManagerDelegate {
                    let m = CLLocationManager()
                    func application(_ application: UIApplication, didFinishLaunchingWithOptions options: [UIApplication.LaunchOptionsKey: Any]?) -> Bool {
                        m.startRangingBeacons(satisfying: c)
                        #if canImport(UIKit)
                        application.registerForRemoteNotifications()
                        #endif
                        return true
                    }
                    #if canImport(UIKit)
                    func application(_ application: UIApplication, configurationForConnecting a: UISceneSession) {}
                    #endif
                    func applicationWillTerminate(_ application: UIApplication) {}
                }
                #if !canImport(UIKit)
                class UIApplication: NSObject {
                    nonisolated(unsafe) static let shared = UIApplication()
                    enum LaunchOptionsKey: String { case location, bluetoothCentrals, bluetoothPeripherals, url }
                }
                protocol UIApplicationDelegate: AnyObject {}
                class UIResponder: NSObject {}
                extension A {
                    static func main() {
                        let delegate = A()
                        _ = delegate.application(.shared, didFinishLaunchingWithOptions: nil)
                        withExtendedLifetime(delegate) { RunLoop.main.run() }
                    }
                }
                #endif

                """),
        PortExample(
            "a view that holds a region",
            "import SwiftUI\nimport CoreLocation\nstruct A: View {\n    let c = CLBeaconIdentityConstraint(uuid: u)\n    var body: some View { Text(\"\") }\n}",
            becomes:
                "#if canImport(SwiftUI)\nimport SwiftUI\n#endif\nimport CoreLocation\n#if canImport(SwiftUI)\nstruct A: View {\n    let c = CLBeaconIdentityConstraint(uuid: u)\n    var body: some View { Text(\"\") }\n}\n#endif"
        ),
        PortExample(
            "a view that calls a model",
            "import SwiftUI\nimport CoreLocation\nstruct A: View {\n    var body: some View { Button(\"\") { m.startRangingBeacons() } }\n}",
            becomes:
                "#if canImport(SwiftUI)\nimport SwiftUI\n#endif\nimport CoreLocation\n#if canImport(SwiftUI)\nstruct A: View {\n    var body: some View { Button(\"\") { m.startRangingBeacons() } }\n}\n#endif"
        ),
        PortExample(
            "an entity that makes a region",
            "import CoreData\nclass A: NSManagedObject {\n    @NSManaged var a: UUID\n    func r() -> CLBeaconRegion { CLBeaconRegion(uuid: a, identifier: \"\") }\n}",
            becomes:
                "#if canImport(CoreData)\nimport CoreData\n#else\nimport Foundation\n#endif\n#if canImport(CoreData)\nclass A: NSManagedObject {\n    @NSManaged var a: UUID\n    func r() -> CLBeaconRegion { CLBeaconRegion(uuid: a, identifier: \"\") }\n}\n#endif"
        ),
        PortExample(
            "a delegate of another framework",
            "class A: NSObject, CLLocationManagerDelegate, UNUserNotificationCenterDelegate {\n    func f() { m.startRangingBeacons(satisfying: c) }\n    func userNotificationCenter(_ a: UNUserNotificationCenter, willPresent b: UNNotification) {}\n}\n",
            becomes:
                "class A: NSObject, CLLocationManagerDelegate, UNUserNotificationCenterDelegate {\n    func f() { m.startRangingBeacons(satisfying: c) }\n    #if canImport(UserNotifications)\n    func userNotificationCenter(_ a: UNUserNotificationCenter, willPresent b: UNNotification) {}\n    #endif\n}\n#if !canImport(UserNotifications)\nprotocol UNUserNotificationCenterDelegate: AnyObject {}\n#endif\n"
        ),
        PortExample("a value", "func f() -> CGFloat {\n    UIScreen.main.scale\n}", decides: "2: 'UIScreen' of UIKit"),
        PortExample("a requirement", "protocol P {\n    var a: UIView { get }\n}", decides: "2: 'UIView' of UIKit"),
    ]

    /// The application of Linux.
    private static let application = """
        #if !canImport(UIKit)
        class UIApplication: NSObject {
            nonisolated(unsafe) static let shared = UIApplication(); enum State: Int { case active, inactive, background }
            var applicationState: State { .active }
        }
        #endif

        """
}
