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
            findings.decide(
                at: type.trimmedOffsets.lowerBound,
                "'\(type.name.text)' has an empty '\(parent)' on Linux, and nothing calls its methods",
                "call them yourself, or move the beacon code into a class without UIKit")
        }
        guard !missing.isEmpty else { return findings }
        let end = file.source.utf8.count
        let startsLine = file.source.utf8.last == UInt8(ascii: "\n")
        let lines = ["#if !canImport(UIKit)"] + missing.flatMap { $0.lines } + ["#endif"]
        let text =
            (startsLine ? "" : file.newline) + file.newline + lines.joined(separator: file.newline) + file.newline
        let names = missing.map { "'\($0.name)'" }.joined(separator: ", ")
        findings.change([Edit(range: end..<end, text: text)], at: end, "added an empty \(names) for Linux")
        return findings
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
        ("UIApplicationDelegate", ["protocol UIApplicationDelegate: AnyObject {}"]),
    ]
}
