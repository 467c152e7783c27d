public import Foundation

extension Conformance.Report {
    /// The environment variable that names the folder for reports.
    static let folderVariable = "BEACON_CONFORMANCE_REPORTS"

    /// Writes the report as JUnit XML, which CI servers show as tests, and as Markdown.
    ///
    /// - Throws: the file system's error.
    public func write(junit: URL, markdown: URL) throws {
        try Data(self.junit.utf8).write(to: junit)
        try Data(self.markdown.utf8).write(to: markdown)
    }

    /// Writes the report to the folder in the environment, if it has one. A failure is printed: the test has passed or
    /// failed before.
    func writeIfRequested() {
        guard let folder = Self.folder else { return }
        let name = Self.fileName(name)
        do {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try write(
                junit: folder.appendingPathComponent("\(name).xml"),
                markdown: folder.appendingPathComponent("\(name).md"))
        } catch {
            FileHandle.standardError.write(
                Data("cannot write the conformance report to \(folder.path): \(error.localizedDescription)\n".utf8))
        }
    }

    static var folder: URL? {
        guard let path = ProcessInfo.processInfo.environment[folderVariable], !path.isEmpty else { return nil }
        return URL(fileURLWithPath: path, isDirectory: true)
    }

    /// Returns a file name without characters that have a meaning in paths.
    static func fileName(_ name: String) -> String {
        let name = String(name.map { $0.isLetter || $0.isNumber || $0 == "-" ? $0 : "-" })
        return name.isEmpty ? "app" : name
    }

    // MARK: - JUnit

    /// The report in JUnit's XML: a test for each situation. An error is a failure, a situation that does not apply is
    /// skipped, and warnings and remarks are in the output.
    public var junit: String {
        Self.junit(
            name,
            results.map { result in
                var lines: [String] = []
                if let skipped = result.skipped { lines.append("<skipped message=\"\(Self.escape(skipped))\"/>") }
                for finding in result.findings where finding.severity == .error {
                    let (text, details) = (Self.escape(finding.text), Self.escape(finding.description))
                    lines.append("<failure message=\"\(text)\">\(details)</failure>")
                }
                let output = result.findings.filter { $0.severity < .error }.map(\.description)
                if !output.isEmpty {
                    lines.append("<system-out>\(Self.escape(output.joined(separator: "\n")))</system-out>")
                }
                return (result.number, result.name, lines)
            })
    }

    /// Returns a suite of tests, each with its number, its name and its elements.
    static func junit(_ app: String, _ tests: [(number: Int, name: String, elements: [String])]) -> String {
        let failures = tests.count { $0.elements.contains { $0.hasPrefix("<failure") } }
        let skipped = tests.count { $0.elements.contains { $0.hasPrefix("<skipped") } }
        var lines = [
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>",
            """
            <testsuite name="Conformance of \(escape(app))" tests="\(tests.count)" failures="\(failures)" errors="0" \
            skipped="\(skipped)">
            """,
        ]
        for test in tests {
            let begin = "  <testcase classname=\"\(escape(app))\" name=\"\(test.number) \(escape(test.name))\""
            if test.elements.isEmpty {
                lines.append(begin + "/>")
            } else {
                lines += [begin + ">"] + test.elements.map { "    " + $0 } + ["  </testcase>"]
            }
        }
        return (lines + ["</testsuite>", ""]).joined(separator: "\n")
    }

    /// Escapes a text for XML. XML has no control characters, so they are replaced.
    static func escape(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "\n", "\t": result.unicodeScalars.append(scalar)
            case _ where scalar.value < 0x20 || scalar.value == 0xFFFE || scalar.value == 0xFFFF: result += "?"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    // MARK: - Markdown

    /// The report in Markdown: the findings, a table of all situations, and the transcripts of those with findings.
    public var markdown: String {
        var lines = ["# Conformance of \(Self.cell(name))", ""]
        let run = results.count { $0.skipped == nil }
        let counts = [Conformance.Severity.error, .warning, .remark].map { severity in
            let count = results.flatMap(\.findings).count { $0.severity == severity }
            return "\(count) \(severity.rawValue)\(count == 1 ? "" : "s")"
        }
        lines.append("\(run) situations run, \(results.count - run) do not apply: \(counts.joined(separator: ", ")).")
        lines += limits.flatMap { ["", $0] }
        let all = findings + remarks
        if !all.isEmpty {
            lines += ["", "| | situation | time | finding | expected | source |", "|---|---|---|---|---|---|"]
            lines += all.map { finding in
                let name = results.first { $0.number == finding.situation }?.name ?? ""
                let sources = finding.sources.map(\.description).joined(separator: ", ")
                return """
                    | \(finding.severity.rawValue) | \(finding.situation) \(name) | \
                    \(Conformance.clock(finding.time)) | \(Self.cell(finding.text)) | \
                    \(Self.cell(finding.expected)) | \(Self.cell(sources)) |
                    """
            }
        }
        lines += ["", "| # | situation | what happens | result |", "|---|---|---|---|"]
        lines += results.map { result in
            let worst = result.findings.map(\.severity).max()
            let outcome = result.skipped.map { "does not apply: \($0)" } ?? worst?.rawValue ?? "ok"
            return "| \(result.number) | \(result.name) | \(Self.cell(result.course)) | \(Self.cell(outcome)) |"
        }
        for result in results where result.findings.contains(where: { $0.severity > .remark }) {
            lines += ["", "<details><summary>\(result.number) \(result.name): what happened</summary>", "", "```"]
            lines += result.transcript
            lines += ["```", "", "</details>"]
        }
        lines += [
            "",
            "Sources: A Apple's documents, E an Apple engineer, F field reports, G a guess. A finding that only field "
                + "reports support is a warning.", "",
        ]
        return lines.joined(separator: "\n")
    }

    private static func cell(_ text: String) -> String {
        text.replacingOccurrences(of: "|", with: "\\|").replacingOccurrences(of: "\n", with: " ")
    }
}
