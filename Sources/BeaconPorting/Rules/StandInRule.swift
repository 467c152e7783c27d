internal import DelegateCheck
internal import SwiftSyntax

/// A rule that adds a superclass on Linux for beacon code in a view controller or an app delegate.
struct StandInRule: PortRule {
    func findings(in file: PortFile) -> RuleFindings {
        var findings = RuleFindings()
        let declared = Set(file.live.compactMap { $0.asProtocol((any NamedDeclSyntax).self)?.name.bareText })
        let missing = Self.declarations.filter { name, _ in
            file.module.standIns[name] == file.index && !declared.contains(name)
        }
        for type in file.nodes(ClassDeclSyntax.self) where !type.name.text.isEmpty {
            let parents = type.inheritanceClause?.inheritedTypes.compactMap { $0.type.path?.last } ?? []
            guard let parent = parents.first(where: { file.module.standIns[$0] != nil && Self.texts[$0] != nil }) else {
                continue
            }
            // The main function that follows calls these.
            if parents.contains("UIApplicationDelegate"), type.isMain { continue }
            findings.decide(
                at: type.trimmedOffsets.lowerBound,
                "'\(type.name.text)' has an empty '\(parent)' on Linux, and nothing calls its methods",
                "call them yourself, or move the beacon code into a class without UIKit")
        }
        var lines = missing.flatMap { $0.lines }
        var summaries = missing.isEmpty ? [] : ["a simple " + missing.map { "'\($0.name)'" }.joined(separator: ", ")]
        for name in Self.mains(in: file) {
            lines += Self.mainFunction(of: name)
            summaries.append("a main function of '\(name)' that calls the launch callbacks only")
        }
        if !lines.isEmpty {
            findings.change(
                [Self.edit(lines, in: file)], at: file.source.utf8.count,
                "added \(summaries.joined(separator: ", and ")) for Linux")
        }
        return findings
    }

    /// Returns the names of the app delegates that UIKit starts elsewhere and that have no main function yet.
    private static func mains(in file: PortFile) -> [String] {
        guard file.module.types.contains("UIApplicationDelegate"),
            !file.nodes(FunctionDeclSyntax.self).contains(where: { $0.name.text == "main" })
        else { return [] }
        return file.nodes(ClassDeclSyntax.self).filter { type in
            let parents = type.inheritanceClause?.inheritedTypes.compactMap { $0.type.path?.last } ?? []
            return type.isMain && parents.contains("UIApplicationDelegate")
        }.map(\.name.text)
    }

    private static func mainFunction(of name: String) -> [String] {
        [
            "extension \(name) {", "    static func main() {",
            "        let delegate: any UIApplicationDelegate = \(name)()",
            "        if delegate.application(.shared, willFinishLaunchingWithOptions: nil) {",
            "            _ = delegate.application(.shared, didFinishLaunchingWithOptions: nil)", "        }",
            "        withExtendedLifetime(delegate) { RunLoop.main.run() }", "    }", "}",
        ]
    }

    /// Returns the edit that appends lines for systems without UIKit.
    private static func edit(_ lines: [String], in file: PortFile) -> Edit {
        let end = file.source.utf8.count
        let startsLine = file.source.utf8.last == UInt8(ascii: "\n")
        let block = ["#if !canImport(UIKit)"] + lines + ["#endif"]
        let text =
            (startsLine ? "" : file.newline) + file.newline + block.joined(separator: file.newline) + file.newline
        return Edit(range: end..<end, text: text)
    }

    /// Members of a view controller that its stand-in lacks.
    static let controllerMembers = [
        "view", "navigationController", "navigationItem", "tabBarController", "present", "dismiss", "performSegue",
        "storyboard", "setNeedsStatusBarAppearanceUpdate",
    ]

    /// The stand-ins by name.
    static let texts = Dictionary(uniqueKeysWithValues: declarations.map { ($0.name, $0.lines) })

    private static let declarations: [(name: String, lines: [String])] = [
        (
            "UIViewController",
            [
                "class UIViewController: NSObject {", "    override init() {}",
                "    required init?(coder: NSCoder) {}", "    func loadView() {}", "    func viewDidLoad() {}",
                "    func viewWillAppear(_ animated: Bool) {}", "    func viewDidAppear(_ animated: Bool) {}",
                "    func viewWillDisappear(_ animated: Bool) {}", "    func viewDidDisappear(_ animated: Bool) {}",
                "    func viewWillLayoutSubviews() {}", "    func viewDidLayoutSubviews() {}",
                "    func didReceiveMemoryWarning() {}", "    var shouldAutorotate: Bool { true }",
                "    var prefersStatusBarHidden: Bool { false }", "    var canBecomeFirstResponder: Bool { false }",
                "}",
            ]
        ),
        ("UIResponder", ["class UIResponder: NSObject {}"]),
        (
            "UIApplication",
            [
                "class UIApplication: NSObject {", "    enum State: Int { case active, inactive, background }",
                "    struct LaunchOptionsKey: Hashable, RawRepresentable, Sendable {", "        var rawValue: String",
                "        init(rawValue: String) { self.rawValue = rawValue }",
                "        static let location = Self(rawValue: \"UIApplicationLaunchOptionsLocationKey\")",
                "        static let bluetoothCentrals = Self(rawValue: \"UIApplicationLaunchOptionsBluetoothCentralsKey\")",
                "    }", "    nonisolated(unsafe) static let shared = UIApplication()",
                "    var applicationState: State { .active }", "    var isIdleTimerDisabled = false", "}",
            ]
        ),
        (
            "UIApplicationDelegate",
            [
                "protocol UIApplicationDelegate: AnyObject {",
                "    func application(",
                "        _ application: UIApplication,",
                "        willFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?) -> Bool",
                "    func application(",
                "        _ application: UIApplication,",
                "        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?) -> Bool",
                "}", "extension UIApplicationDelegate {", "    func application(",
                "        _ application: UIApplication,",
                "        willFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?",
                "    ) -> Bool { true }", "    func application(", "        _ application: UIApplication,",
                "        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?",
                "    ) -> Bool { true }", "}",
            ]
        ),
    ]

    /// The members of `UIApplication` that its stand-in has.
    static let applicationMembers: Set<String> = [
        "shared", "applicationState", "isIdleTimerDisabled", "State", "LaunchOptionsKey", "self",
    ]
}

extension ClassDeclSyntax {
    /// A Boolean value that indicates whether the program starts with it.
    fileprivate var isMain: Bool {
        attributes.contains { attribute in
            let name = attribute.as(AttributeSyntax.self)?.attributeName.as(IdentifierTypeSyntax.self)?.name.text
            return name == "main" || name == "UIApplicationMain"
        }
    }
}
