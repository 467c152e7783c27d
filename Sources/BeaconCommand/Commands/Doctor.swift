import ArgumentParser
import BeaconRadio
import LinuxRadio

/// `beacon doctor`: what keeps radios from working on this machine, and what mends it.
struct Doctor: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Say what keeps radios from working here, and what mends it.",
        discussion: "The exit status is 1 where a problem was found, and 0 where nothing or only warnings were.")

    @Flag(help: "Print one JSON object a line.")
    var json = false

    func run() throws {
        let findings = Diagnosis.findings()
        var output = try FileOutput(path: "-")
        let width = findings.map(\.subject.count).max() ?? 0
        for finding in findings {
            try output.append { buffer in
                if json {
                    FindingText.appendJSON(finding, to: &buffer)
                } else {
                    FindingText.append(finding, width: width, to: &buffer)
                }
            }
        }
        try output.finish()
        if findings.contains(where: { $0.level == .problem }) { throw ExitCode(1) }
    }
}
