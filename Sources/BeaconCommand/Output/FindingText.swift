import BeaconRadio
import LinuxRadio

/// What `doctor` prints.
enum FindingText {
    /// One finding for people: level, subject, message, and the command that mends it on a line of its own.
    static func append(_ finding: Finding, width: Int, to buffer: inout [UInt8]) {
        let level = finding.level.rawValue
        let space = String(repeating: " ", count: 9 - level.count)
        let subject = finding.subject + String(repeating: " ", count: max(0, width - finding.subject.count) + 2)
        let margin = 9 + max(width, finding.subject.count) + 2
        buffer.append(contentsOf: (style(level, finding.level) + space + subject).utf8)
        for (index, line) in wrapped(finding.message, width: 100 - margin).enumerated() {
            if index > 0 { buffer.append(contentsOf: String(repeating: " ", count: margin).utf8) }
            buffer.append(contentsOf: "\(line)\n".utf8)
        }
        if let remedy = finding.remedy {
            buffer.append(contentsOf: "\(String(repeating: " ", count: margin))→ \(remedy)\n".utf8)
        }
    }

    /// One finding as a JSON object.
    static func appendJSON(_ finding: Finding, to buffer: inout [UInt8]) {
        buffer.append(json: "{\"subject\":")
        buffer.append(contentsOf: SightingLogFormat.jsonText(finding.subject))
        buffer.append(json: ",\"level\":")
        buffer.append(contentsOf: SightingLogFormat.jsonText(finding.level.rawValue))
        buffer.append(json: ",\"message\":")
        buffer.append(contentsOf: SightingLogFormat.jsonText(finding.message))
        buffer.append(json: ",\"remedy\":")
        if let remedy = finding.remedy {
            buffer.append(contentsOf: SightingLogFormat.jsonText(remedy))
        } else {
            buffer.append(json: "null")
        }
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
        guard Terminal.hasColor else { return text }
        let color =
            switch level {
            case .ok: "32"
            case .warning: "33"
            case .problem: "31"
            }
        return "\u{1B}[\(color)m\(text)\u{1B}[0m"
    }
}
