import CoreLocation

/// The screen on which the user makes this device a beacon.
final class ConfigureScreen: AppScreen {
    private enum Field: Int, CaseIterable {
        case uuid, major, minor, measuredPower, enabled

        var title: String {
            switch self {
            case .uuid: "UUID"
            case .major: "Major"
            case .minor: "Minor"
            case .measuredPower: "Measured power"
            case .enabled: "Enabled"
            }
        }

        var hint: String {
            switch self {
            case .uuid: ""
            case .major, .minor: "0 to 65535"
            case .measuredPower: "dBm at 1 m, -127 to -1; empty for this device's own"
            case .enabled: "Space switches"
            }
        }
    }

    private let beacon: BeaconConfiguration
    private var texts: [Field: String]
    private var field = Field.uuid
    /// The reason why the last key was refused, or the missing value.
    private var refusal: String?

    private static let column = 21

    init(_ beacon: BeaconConfiguration) {
        self.beacon = beacon
        texts = [.uuid: beacon.values.uuid.uuidString, .major: "0", .minor: "0", .measuredPower: ""]
    }

    let title = "Configure a Beacon"
    let keys = ["Tab next", "Space on and off"]

    // MARK: - Values

    /// The values of the fields, or a problem with them.
    private var values: Result<BeaconConfiguration.Values, Problem> {
        guard let uuid = UUID(uuidString: texts[.uuid] ?? "") else {
            return .failure(
                Problem(.uuid, "A UUID has 32 hexadecimal digits: 8, 4, 4, 4 and 12, with hyphens between."))
        }
        var values = BeaconConfiguration.Values(uuid: uuid)
        for (field, name) in [(Field.major, "The major value"), (.minor, "The minor value")] {
            guard let number = CLBeaconMajorValue(texts[field] ?? "") else {
                return .failure(Problem(field, "\(name) is missing: a number from 0 to 65535."))
            }
            if field == .major { values.major = number } else { values.minor = number }
        }
        let power = texts[.measuredPower] ?? ""
        if !power.isEmpty {
            guard let number = Int(power), (-127...(-1)).contains(number) else {
                return .failure(Problem(.measuredPower, "The measured power is incomplete: a number from -127 to -1."))
            }
            values.measuredPower = number
        }
        return .success(values)
    }

    private struct Problem: Error {
        var field: Field
        var sentence: String

        init(_ field: Field, _ sentence: String) {
            self.field = field
            self.sentence = sentence
        }
    }

    /// Returns why a field cannot contain a text, even as the start of another; nil if it can.
    private func refusal(of text: String, in field: Field) -> String? {
        switch field {
        case .uuid:
            if !text.allSatisfy({ $0.isHexDigit || $0 == "-" }) {
                return "A UUID has hexadecimal digits and hyphens only."
            }
            return text.count > 36 ? "A UUID has 36 characters." : nil
        case .major, .minor:
            let name = field == .major ? "major" : "minor"
            guard text.allSatisfy({ $0.isASCII && $0.isNumber }) else { return "The \(name) value is a number." }
            return text.isEmpty || CLBeaconMajorValue(text) != nil
                ? nil : "The \(name) value has 16 bits: 65535 is the largest."
        case .measuredPower:
            if text.isEmpty || text == "-" { return nil }
            guard text.first == "-" else { return "A measured power is negative: begin with -." }
            return Int(text).map { (-127...(-1)).contains($0) } == true
                ? nil : "The measured power is a number from -127 to -1."
        case .enabled: return nil
        }
    }

    private func apply(isEnabled: Bool) {
        switch values {
        case .success(let values):
            refusal = nil
            if beacon.isEnabled != isEnabled || beacon.values != values { beacon.change(values, isEnabled: isEnabled) }
        case .failure(let problem):
            refusal = problem.sentence
            if isEnabled, !beacon.isEnabled { field = problem.field }
            // The beacon sends the values on the screen, or nothing.
            if beacon.isEnabled { beacon.change(beacon.values, isEnabled: false) }
        }
    }

    // MARK: - AppScreen

    func draw() -> (lines: [StyledLine], cursor: (row: Int, column: Int)?) {
        var lines = [StyledLine()]
        var cursor: (row: Int, column: Int)?
        for own in Field.allCases {
            var line = StyledLine(own == field ? "  › " : "    ", .bold)
            line.append(own.title, own == field ? .bold : .plain)
            line.pad(to: Self.column)
            if own == .enabled {
                line.append(beacon.isEnabled ? "[x] on" : "[ ] off", beacon.isEnabled ? .green : .plain)
            } else {
                let text = texts[own] ?? ""
                line.append(text)
                if own == field { cursor = (lines.count, Self.column + text.count) }
            }
            if !own.hint.isEmpty {
                line.pad(to: Self.column + 10)
                line.append(own.hint, .dim)
            }
            lines += [line, StyledLine()]
        }
        if let refusal { lines.append(StyledLine("  " + refusal, .red)) }
        lines.append(StyledLine("  " + beacon.status, beacon.isEnabled ? .green : .dim))
        return (lines, cursor)
    }

    func handle(_ key: Key) -> Bool {
        switch key {
        case .tab: move(by: 1)
        case .backTab: move(by: -1)
        case .enter:
            if field == .enabled { apply(isEnabled: !beacon.isEnabled) } else { move(by: 1) }
        case .character(" "):
            field = .enabled
            apply(isEnabled: !beacon.isEnabled)
        case .delete where field != .enabled:
            texts[field] = String((texts[field] ?? "").dropLast())
            changed()
        case .character(let character) where field != .enabled:
            // The first digit replaces the initial 0.
            let old = (field == .major || field == .minor) && texts[field] == "0" ? "" : texts[field] ?? ""
            let new = old + (field == .uuid ? character.uppercased() : String(character))
            if let reason = refusal(of: new, in: field) {
                refusal = reason
            } else {
                texts[field] = new
                changed()
            }
        default: return false
        }
        return true
    }

    private func move(by step: Int) {
        let count = Field.allCases.count
        field = Field(rawValue: (field.rawValue + step + count) % count) ?? .uuid
        refusal = nil
    }

    private func changed() {
        refusal = nil
        if beacon.isEnabled { apply(isEnabled: true) }
    }

    func leave() { beacon.leave() }
}
