import Testing

@Suite("Conditions that exclude Linux")
struct ConditionRuleTests {
    @Test("Linux is included if possible", arguments: admitted + left)
    func condition(_ example: PortExample) {
        example.check()
    }

    static let code = "manager.startRangingBeacons(satisfying: c)"

    static func example(
        _ condition: String, _ replacement: String, _ rest: String = ""
    ) -> PortExample {
        PortExample(
            condition, "\(condition)\n    \(code)\n\(rest)#endif", becomes: "\(replacement)\n    \(code)\n\(rest)#endif"
        )
    }

    static let admitted: [PortExample] = [
        example("#if os(iOS)", "#if os(iOS) || os(Linux)"),
        example("#if os(iOS) // why", "#if os(iOS) || os(Linux) // why"),
        example("#if os(iOS) || os(watchOS)", "#if os(iOS) || os(watchOS) || os(Linux)"),
        example("#if os(iOS) && DEBUG", "#if (os(iOS) || os(Linux)) && DEBUG"),
        example(
            "#if os(iOS) && !targetEnvironment(simulator)",
            "#if (os(iOS) || os(Linux)) && !targetEnvironment(simulator)"),
        example("#if os(macOS)\n#elseif os(iOS)", "#if os(macOS)\n#elseif os(iOS) || os(Linux)"),
        example("#if !os(iOS)\n#else", "#if !os(iOS) && !os(Linux)\n#else"),
        example("#if os(iOS)", "#if os(iOS) || os(Linux)", "#else\n    fatalError(\"no beacons\")\n"),
        example("#if DEBUG\n#if os(iOS)", "#if DEBUG\n#if os(iOS) || os(Linux)", "#endif\n"),
        PortExample(
            "after other rules", "class A {\n    #if os(iOS)\n    @objc func f() {}\n    #endif\n}",
            becomes: "class A {\n    #if os(iOS) || os(Linux)\n    func f() {}\n    #endif\n}"),
        PortExample(
            "an import that exists", "#if os(iOS)\nimport CoreLocation\n#endif",
            becomes: "#if os(iOS) || os(Linux)\nimport CoreLocation\n#endif"),
        PortExample(
            "with an Apple-only part",
            "#if os(iOS)\n\(code)\n#if canImport(UIKit)\nlet a = UIColor.red\n#endif\n#endif",
            becomes: "#if os(iOS) || os(Linux)\n\(code)\n#if canImport(UIKit)\nlet a = UIColor.red\n#endif\n#endif"),
    ]

    static let left: [PortExample] = [
        PortExample("Linux is included", "#if os(iOS) || os(Linux)\n\(code)\n#endif"),
        PortExample("not for iOS", "#if os(macOS)\n\(code)\n#endif"),
        PortExample("true on Linux", "#if !os(macOS)\n\(code)\n#endif"),
        PortExample("a module", "#if canImport(UIKit)\n\(code)\n#endif"),
        PortExample("the simulator", "#if targetEnvironment(simulator)\n\(code)\n#endif"),
        PortExample("code for others", "#if os(iOS)\n\(code)\n#else\nprint(\"no beacons\")\n#endif"),
        PortExample("the other way round", "#if !os(iOS)\nprint(1)\n#else\n\(code)\n#endif"),
        PortExample("nothing in it", "#if os(iOS)\n#endif"),
        PortExample(
            "a framework's import",
            "#if os(iOS)\nimport UIKit\nimport Network\n#endif\n#if os(macOS)\nimport AppKit\n#endif"),
        PortExample("no end", "#if os(iOS"),
        PortExample(
            "a view", "#if os(iOS)\n\(code)\nif a == UIColor.red { f() }\n#endif",
            decides: "1: '#if os(iOS)' excludes this code on Linux, where 'UIColor' of UIKit does not exist on Linux"),
        PortExample(
            "a selector",
            "class A {\n#if os(iOS)\nfunc f() { b.addTarget(self, action: #selector(g), for: e) }\n#endif\n}",
            decides: "2: '#if os(iOS)' excludes this code on Linux, where '#selector(g)' needs Objective-C"),
    ]
}
