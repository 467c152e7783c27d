import BeaconGateway
import BeaconSupport
import Foundation
import GatewayTestSupport
import Testing

/// Random mistakes in a configuration with every key: the messages, lines and columns stay the same.
///
/// `BEACON_WRITE_GOLDEN=1` rewrites the expected output. Read the difference before you commit it.
/// `BEACON_WRITE_MUTANTS=FOLDER` writes the configurations, for scripts/lib/check-schema.py.
@Suite("Mutated configurations")
struct MutatedConfigurationTests {
    private static let folder = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().appendingPathComponent("../../Golden/configurations").standardizedFileURL
    private static let expected = folder.appendingPathComponent("mutated.txt")

    static let environment = [
        "PASSWORD": "secret", "TOKEN": "a token of many characters, 0123456789", "LIGHTS_KEY": "on",
        "KEY": "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=",
        "SECRET": "whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIz",
    ]

    /// Values of all kinds, most of them wrong for a given key.
    private static let values = [
        "", "0", "-1", "7", "70000", "1e9", "yes", "maybe", "auto", "30s", "30x", "2w", "-300", "[a, b]", "[]",
        "{ a: b }",
        "null", "~", "\"\"", "near", "naer", "store 1", "store 3", "hal", "5GB", "{ env: PASSWORD }",
        "{ env: NOTHING }",
        "{ file: nothing }", "https://example.com", "example.com", "a/#", "*",
        "02f07e83-abd6-4243-90a8-3617c9c74e70", "02f0", "é", "\"a\\tb\"", "*anchor", "&anchor x", "!!int x", "|",
        "'open",
    ]

    /// Variables that override keys, or look like it.
    private static let variables = [
        "BEACOND_NOTIFY_COOL_DOWN", "BEACOND_NOTIFY_EVENTS", "BEACOND_OUTBOX_PATH", "BEACOND_OUTBOX_MAXIMUM_AGE",
        "BEACOND_DESTINATIONS_CLOUD_URL", "BEACOND_DESTINATIONS_HOME_PORT", "BEACOND_DESTINATIONS_HOME_HOST",
        "BEACOND_LOG_LEVEL", "BEACOND_LOG_LEVLE", "BEACOND_SOURCES", "BEACOND_WEB_LISTEN", "BEACOND_PLACE_RULES_MARGIN",
        "BEACOND_REGIONS_STORE_1_EXIT_TIMEOUT", "BEACOND_PROXY", "BEACOND_NOTHING",
    ]

    private struct Mutant {
        var lines: [String]
        var environment = MutatedConfigurationTests.environment
        var words: [String] = []

        var text: String { lines.joined(separator: "\n") + "\n" }

        /// Makes one random mistake.
        mutating func change(_ random: inout SplitMix64) {
            let line = Int.random(in: 1..<lines.count, using: &random)
            let old = lines[line]
            let value = MutatedConfigurationTests.values.randomElement(using: &random) ?? ""
            switch Int.random(in: 0..<9, using: &random) {
            case 0:
                lines.remove(at: line)
                words.append("without \(old.quoted)")
            case 1:
                lines.insert(old, at: line)
                words.append("\(old.quoted) twice")
            case 2, 3:
                replace(line, by: misspelt(old, &random))
            case 4:
                replace(line, by: Bool.random(using: &random) ? " " + old : String(old.dropFirst()))
            case 5:
                let name = MutatedConfigurationTests.variables.randomElement(using: &random) ?? ""
                environment[name] = value
                words.append("\(name)=\(value)")
            default:
                guard let colon = old.firstIndex(of: ":") else { return replace(line, by: value) }
                replace(line, by: old[...colon] + " " + value)
            }
        }

        private mutating func replace(_ line: Int, by new: some StringProtocol) {
            words.append("\(lines[line].quoted) is \(new.quoted)")
            lines[line] = String(new)
        }

        private func misspelt(_ line: String, _ random: inout SplitMix64) -> String {
            var letters = Array(line)
            let places = letters.indices.filter { letters[$0].isLetter }
            guard let place = places.randomElement(using: &random), place + 1 < letters.count else { return line + "x" }
            if Bool.random(using: &random) { letters.remove(at: place) } else { letters.swapAt(place, place + 1) }
            return String(letters)
        }
    }

    /// Returns the diagnostics of 240 configurations with one to three mistakes each.
    private func reported() throws -> [String] {
        let text = try String(contentsOf: Self.folder.appendingPathComponent("every-key.yaml"), encoding: .utf8)
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init).dropLast()
        return try (0..<240).map { seed in
            var random = SplitMix64(seed: UInt64(seed))
            var mutant = Mutant(lines: Array(lines))
            for _ in 0..<(seed == 0 ? 0 : Int.random(in: 1...3, using: &random)) { mutant.change(&random) }
            let reported = ConfigurationBench.lines(mutant.text, mutant.environment)
            if let folder = ProcessInfo.processInfo.environment["BEACON_WRITE_MUTANTS"] {
                try Data(mutant.text.utf8).write(to: URL(fileURLWithPath: "\(folder)/\(seed).yaml"))
                try Data(reported.joined(separator: "\n").utf8).write(
                    to: URL(fileURLWithPath: "\(folder)/\(seed).told"))
            }
            return (["# \(seed): \(mutant.words.joined(separator: "; "))"] + reported).joined(separator: "\n")
        }
    }

    @Test("Each mistake has the same diagnostics as before")
    func golden() throws {
        let reported = try reported()
        if ProcessInfo.processInfo.environment["BEACON_WRITE_GOLDEN"] != nil {
            try Data((reported.joined(separator: "\n") + "\n").utf8).write(to: Self.expected)
        }
        let expected = try String(contentsOf: Self.expected, encoding: .utf8)
            .split(separator: "\n# ").map { $0.hasPrefix("# ") ? String($0) : "# " + $0 }
        try #require(reported.count == expected.count)
        for (reported, expected) in zip(reported, expected) {
            #expect(reported == expected.trimmingCharacters(in: .newlines))
        }
    }
}

extension StringProtocol {
    fileprivate var quoted: String { "\"\(self)\"" }
}
