import ArgumentParser
import BeaconCapture
import BeaconModel
import BeaconMonitoring
import BeaconSupport
import BeaconTerminal
import LinuxRadio

/// The command `beacon doctor`, which finds the reasons why no adapter works here.
struct DoctorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Find out why no Bluetooth adapter works here, and how to fix it.",
        discussion: """
            It checks the adapters, rfkill, the permissions of this process, the kernel and bluetoothd, and prints a \
            command that fixes each problem. It changes nothing itself. The exit status is 1 if there is a problem, \
            and 0 if there are none or only warnings.

              beacon doctor
            """)

    @Flag(help: "Print one JSON object a line.")
    var json = false

    func run() throws {
        let findings = Diagnosis.findings() + [Self.calibration, Self.phones]
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

extension DoctorCommand {
    /// The kinds of receivers that hear phones and watches.
    fileprivate static var phones: Finding {
        Finding(
            "phones", .ok,
            "Adapters hear phones and watches with a key, over raw HCI and over bluetoothd. In the network, ESPHome "
                + "proxies and Shelly do, OpenMQTTGateway with randommacs, and a relay with --tags. ESPresense, Tasmota "
                + "and others that pass on only iBeacons do not.")
    }

    /// The saved measurements of receivers and beacons.
    fileprivate static var calibration: Finding {
        do {
            let set = try CalibrationSet(optionalFile: CalibrationSet.userFile)
            guard !set.isEmpty else {
                return Finding(
                    "calibration", .ok, "none: distances rely on the power that beacons claim",
                    remedy: "beacon calibrate --save")
            }
            let receivers = set.receivers.sorted { $0.key < $1.key }.map { name, receiver in
                "\(name.printable) \(receiver.offset < 0 ? "" : "+")\(receiver.offset, decimals: 1) dB"
            }
            let count = set.beacons.count
            let learned = set.learned.map { $0.receivers.count + $0.beacons.count } ?? 0
            let parts =
                receivers + (count > 0 ? ["\(count) beacon\(count == 1 ? "" : "s")"] : [])
                + (learned > 0 ? ["\(learned) learned offset\(learned == 1 ? "" : "s")"] : [])
            return Finding("calibration", .ok, parts.joined(separator: ", "))
        } catch {
            return Finding("calibration", .warning, "\(error)")
        }
    }
}

/// The text and JSON of `doctor`'s findings.
enum FindingText {
    /// Appends a finding as text: level, subject, message, and on a separate line the command that fixes it.
    static func append(_ finding: Finding, width: Int, to buffer: inout [UInt8]) {
        let level = finding.level.rawValue
        let space = String(repeating: " ", count: 9 - level.count)
        let subject = finding.subject + String(repeating: " ", count: max(0, width - finding.subject.count) + 2)
        let margin = 9 + max(width, finding.subject.count) + 2
        buffer.append(contentsOf: (style(level, finding.level) + space + subject).utf8)
        for (index, line) in wrapped(finding.message, width: max(40, min(100, Terminal.output.size.columns) - margin))
            .enumerated()
        {
            if index > 0 { buffer.append(contentsOf: String(repeating: " ", count: margin).utf8) }
            buffer.append(contentsOf: "\(line)\n".utf8)
        }
        if let remedy = finding.remedy {
            buffer.append(contentsOf: "\(String(repeating: " ", count: margin))→ \(remedy)\n".utf8)
        }
    }

    /// Appends a finding as a JSON object.
    static func appendJSON(_ finding: Finding, to buffer: inout [UInt8]) {
        buffer.append(json: "{")
        buffer.append("subject", finding.subject)
        buffer.append("level", finding.level.rawValue)
        buffer.append("message", finding.message)
        buffer.append("remedy", finding.remedy)
        buffer.append(json: "}\n")
    }

    private static func wrapped(_ text: String, width: Int) -> [String] {
        var lines: [String] = []
        var line = ""
        for word in text.split(separator: " ") {
            if !line.isEmpty, line.count + 1 + word.count > width {
                lines.append(line)
                line = ""
            }
            line += line.isEmpty ? String(word) : " \(word)"
        }
        return lines + [line]
    }

    private static func style(_ text: String, _ level: Finding.Level) -> String {
        let ink: TextStyle.Ink =
            switch level {
            case .ok: .green
            case .warning: .yellow
            case .problem: .red
            }
        return TextStyle.output(text, ink)
    }
}
