import Foundation
import TestSupport
import Testing

@Suite("Usage of beacon", .fewAtATime)
struct UsageTests {
    @Test("Help goes to standard output with status 0")
    func help() async throws {
        for arguments in ["--help", "help"] {
            let outcome = try await BeaconProgram.run(arguments)
            #expect(outcome.status == 0)
            #expect(outcome.output.contains("scan") && outcome.output.contains("simulation:museum"))
        }
        let outcome = try await BeaconProgram.run("monitor", "--help")
        for option in ["--minimum-rssi", "--exit-rssi", "--exit-timeout", "--adaptive-exit", "--exec", "--receiver"] {
            #expect(outcome.output.contains(option))
        }
    }

    @Test("Examples and tables in a help text keep their columns at 80 columns", arguments: ["beacon", "beacond"])
    func helpLayout(program: String) async throws {
        let path = Product.path(program)
        func overview(_ command: [String], columns: Int) async throws -> [String] {
            let help = try await BeaconProgram.run(
                path, command + ["--help"], input: "", environment: ["COLUMNS": "\(columns)"])
            return help.output.components(separatedBy: "USAGE:")[0].components(separatedBy: "\n")
        }
        let names = try await BeaconProgram.run(path, ["--help"], input: "", environment: ["COLUMNS": "80"]).lines
            .drop { $0 != "SUBCOMMANDS:" }.dropFirst()
            .prefix { $0.hasPrefix("  ") }
            .filter { !$0.hasPrefix("   ") }
            .map { String($0.split(separator: " ")[0]) }
        #expect(names.count > 5)
        for command in [[]] + names.map({ [$0] }) {
            let narrow = try await overview(command, columns: 80)
            // The columns at which a line may begin: an example's or a table's first one, and a table's second one.
            var columns: Set = [2]
            for line in try await overview(command, columns: 1000) where line.hasPrefix(" ") {
                let text = line.drop { $0 == " " }
                #expect(columns.contains(line.count - text.count), "\(program) \(command): \(line)")
                #expect(narrow.contains(line), "\(program) \(command) wraps: \(line)")
                // A continuation of an example's line is indented further.
                if text.hasSuffix("\\") { columns.insert(4) }
                if let gap = text.firstRange(of: "  ") {
                    let second = text[gap.upperBound...].drop { $0 == " " }
                    columns.insert(line.count - second.count)
                }
            }
        }
    }

    @Test(
        "No option is suggested that hardly resembles the unknown one",
        arguments: [["range", "--rssi"], ["scan", "--rssi"], ["scan", "--power"]])
    func suggestions(arguments: [String]) async throws {
        let outcome = try await BeaconProgram.run(arguments)
        #expect(outcome.status == 2 && outcome.errors.contains("Unknown option '\(arguments[1])'"))
        #expect(!outcome.errors.contains("Did you mean"), "\(outcome.errors)")
    }

    @Test(
        "A mistake on the command line gives status 2 and a remedy",
        arguments: [
            (["monitor"], "--region"),
            (["monitor", "--region", "hall"], "[NAME=]UUID[/MAJOR[/MINOR]]"),
            (["range", "--region", "e2c56db5-dffb-48d2-b060-d0f5a71096e0/65536"], "65535"),
            (["range", "--speed", "fast"], "--speed"),
            (["range", "--packet-interval", "-1"], "--packet-interval"),
            (["fly"], "fly"), (["scann"], "was scan meant"), (["authorization", "gran"], "was grant meant"),
            (["decode"], "hex"),
            (["advertise", "--uuid", "e2c5", "--major", "1", "--minor", "2"], "32 hexadecimal digits"),
            (["advertise", "--uuid", "new", "--major", "65536", "--minor", "2"], "--major"),
            (["calibrate", "--seconds", "0"], "--seconds"),
            (
                [
                    "monitor", "--region", "e2c56db5-dffb-48d2-b060-d0f5a71096e0", "--minimum-rssi", "-80",
                    "--exit-rssi", "-70",
                ], "above"
            ),
            (
                ["monitor", "--region", "e2c56db5-dffb-48d2-b060-d0f5a71096e0", "--minimum-rssi", "-300"],
                "from -127 to -1"
            ),
            (
                ["monitor", "--region", "e2c56db5-dffb-48d2-b060-d0f5a71096e0", "--minimum-rssi", "0"],
                "from -127 to -1"
            ),
            (["monitor", "--region", "e2c56db5-dffb-48d2-b060-d0f5a71096e0", "--exit-rssi", "80"], "Was -80 meant?"),
            (["advertise", "--uuid", "new", "--measured-power", "59"], "--measured-power -59"),
            (["advertise", "--uuid", "new", "--measured-power", "127"], "--measured-power -127"),
            (
                ["monitor", "--region", "e2c56db5-dffb-48d2-b060-d0f5a71096e0", "--rssi"],
                "Did you mean '--exit-rssi' or '--minimum-rssi'?"
            ),
            (
                ["monitor", "--region", "e2c56db5-dffb-48d2-b060-d0f5a71096e0", "--exit-timeot"],
                "Did you mean '--exit-timeout'?"
            ),
            (["range", "--jsno"], "Did you mean '--json'?"),
        ])
    func mistakes(arguments: [String], hint: String) async throws {
        let outcome = try await BeaconProgram.run(arguments)
        #expect(outcome.status == 2)
        #expect(outcome.output.isEmpty)
        #expect(outcome.errors.contains(hint), "\(outcome.errors)")
    }

    private static let uuid = "e2c56db5-dffb-48d2-b060-d0f5a71096e0"

    /// Each option for a span of time, with a command that has it.
    private static let spanOptions = [
        ["monitor", "--region", uuid, "--source", "/dev/null", "--exit-timeout"],
        ["monitor", "--region", uuid, "--source", "/dev/null", "--packet-interval"],
        ["places", "--place", "a=b", "--source", "/dev/null", "--exit-timeout"],
        ["places", "--place", "a=b", "--source", "/dev/null", "--hold-time"],
        ["calibrate", "--source", "/dev/null", "--seconds"], ["teach", "hall", "--source", "/dev/null", "--seconds"],
        ["advertise", "--uuid", "new", "--source", "simulation:museum", "--rotate-address"],
        ["relay", "mqtt://127.0.0.1:1", "--source", "/dev/null", "--region", uuid, "--exit-timeout"],
    ]

    @Test("All options accept the same spans of time; a number alone is seconds", arguments: spanOptions)
    func spans(arguments: [String]) async throws {
        for text in ["5", "1.5", "5s", "1m30s", "1500ms"] where arguments[0] != "relay" {
            let outcome = try await BeaconProgram.run(arguments + [text])
            #expect(outcome.status != 2, "\(text): \(outcome.errors)")
        }
        // After an option whose value is optional, this is another option.
        let isOptional = arguments.last == "--rotate-address"
        for text in ["soon", "-1", "0", "3x", "99999999"] where !(isOptional && text.hasPrefix("-")) {
            let outcome = try await BeaconProgram.run(arguments + [text])
            #expect(outcome.status == 2)
            let option = try #require(arguments.last)
            let lines = outcome.errors.split(separator: "\n").filter { $0.contains("'\(text)'") }
            // One sentence, which names the value once.
            #expect(lines.count == 1 && lines[0].contains(option) && lines[0].contains("': write a span of time from"))
            #expect(lines.first?.components(separatedBy: "'\(text)'").count == 2, "\(outcome.errors)")
        }
    }

    @Test(
        "A failure gives status 1 and a reason",
        arguments: [
            (["scan", "--source", "/nowhere/at.all"], "no such file"),
            (["scan", "--source", "/"], "directory"),
            (["scan", "--source", "/dev/null"], "the file is empty"),
            (["scan", "--source", "/bin/ls"], "not a readable capture"),
            (["scan", "--source", #filePath], "not a readable capture"),
            (["scan", "--source", "hci:usb0"], "beacon doctor"),
            (["advertise", "--uuid", "new", "--major", "1", "--minor", "2", "--adapter", "usb0"], "beacon doctor"),
            (["range", "--source", "simulation:nowhere"], "museum"),
            (["record", "/nowhere/at.all", "--source", "simulation:museum"], "No such file"),
        ])
    func failures(arguments: [String], hint: String) async throws {
        let outcome = try await BeaconProgram.run(arguments)
        #expect(outcome.status == 1)
        #expect(outcome.errors.contains(hint), "\(outcome.errors)")
    }

    @Test("Nothing meant for a closed standard stream goes into a file", arguments: ["<&-", ">&-", "2>&-", "<&- >&-"])
    func closedStreams(closed: String) async throws {
        let folder = try TemporaryFolder()
        for (name, redirection) in [("usual", ""), ("closed", closed)] {
            let line = "\(BeaconProgram.path) simulate museum --output \(folder.url.path)/\(name).ndjson \(redirection)"
            #expect(try await BeaconProgram.runShell(line).status == 0)
        }
        let files = try ["usual", "closed"].map { try Data(contentsOf: folder.url.appending(path: $0 + ".ndjson")) }
        #expect(!files[0].isEmpty && files[0] == files[1])
        let scan = "\(BeaconProgram.path) scan --json --source \(folder.url.path)/usual.ndjson \(closed)"
        let outcome = try await BeaconProgram.runShell(scan)
        #expect(outcome.status == 0, "\(outcome.errors)")
    }

    @Test("The environment names the source if the command line does not")
    func environment() async throws {
        let outcome = try await BeaconProgram.run(
            "range", "--speed", "max", "--json", environment: ["BEACON_SOURCE": "simulation:museum"])
        #expect(outcome.status == 0)
        #expect(outcome.lines.count > 60)
    }
}
