import Foundation
import TestSupport
import Testing

@Suite("The air that programs share", .fewAtATime)
struct AirTests {
    private static let uuid = "e2c56db5-dffb-48d2-b060-d0f5a71096e0"

    /// A user's runtime folder for a test.
    private final class Runtime {
        let path = NSTemporaryDirectory() + "runtime-\(UUID().uuidString)"

        init() throws { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }

        deinit { try? FileManager.default.removeItem(atPath: path) }

        var environment: [String: String] { ["XDG_RUNTIME_DIR": path] }

        /// Starts `beacon` with its output in a file.
        func start(_ name: String, _ arguments: String...) throws -> (process: ChildProcess, output: String) {
            let output = "\(path)/\(name).out"
            let process = try ChildProcess(
                "/usr/bin/env", ["XDG_RUNTIME_DIR=\(path)", BeaconProgram.path] + arguments, output: output)
            return (process, output)
        }

        func text(_ output: String) -> String { (try? String(contentsOfFile: output, encoding: .utf8)) ?? "" }

        func lastLine(_ output: String) -> String { text(output).split(separator: "\n").last.map(String.init) ?? "" }

        var files: [String] {
            (try? FileManager.default.contentsOfDirectory(atPath: path + "/swift-beacon/air/default")) ?? []
        }
    }

    @Test(
        "A program ranges another one that advertises: near or far as it walks, then unknown and gone once it is killed"
    )
    func twoPrograms() async throws {
        let runtime = try Runtime()
        let receiver = try runtime.start("range", "range", "--json", "--source", "air")
        let beacon = try runtime.start(
            "beacon", "advertise", "--uuid", Self.uuid, "--major", "4", "--minor", "7", "--source", "air@0.1,0")
        try await eventually { runtime.lastLine(receiver.output).contains(#""minor":7,"proximity":"immediate""#) }
        let list = try await BeaconProgram.run("air", "list", environment: runtime.environment)
        #expect(list.output.contains("\(Self.uuid) 4/7 at 0.1,0  beacon-\(beacon.process.id)"))
        #expect(list.output.contains("beacon-\(receiver.process.id) listens at 0,0"))
        let move = try await BeaconProgram.run(
            "air", "move", "\(beacon.process.id)", "--to", "-15,0", environment: runtime.environment)
        #expect(move.status == 0 && move.errors.isEmpty)
        try await eventually { runtime.lastLine(receiver.output).contains(#""minor":7,"proximity":"far""#) }
        beacon.process.end(SIGKILL)
        try await eventually { runtime.lastLine(receiver.output).contains(#""minor":7,"proximity":"unknown""#) }
        try await eventually { runtime.lastLine(receiver.output).contains(#""beacons":[]"#) }
        #expect(runtime.files.allSatisfy { $0.hasPrefix("beacon-\(receiver.process.id).") })
        receiver.process.signal(SIGTERM)
        #expect(receiver.process.wait() == 128 + SIGTERM)
        #expect(runtime.files.isEmpty)
    }

    @Test("A phone with a key is one beacon over its addresses for a program with the key, and nothing without it")
    func phone() async throws {
        let runtime = try Runtime()
        let tags = runtime.path + "/tags"
        try "Ann: ec0234a357c8ad05341010a60a397d9b\n".write(toFile: tags, atomically: true, encoding: .utf8)
        let receiver = try runtime.start("range", "range", "--json", "--tags", tags, "--source", "air")
        let stranger = try runtime.start("scan", "scan", "--json", "--source", "air")
        let phone = try runtime.start(
            "phone", "advertise", "--tags", tags, "--source", "air@1,0", "--rotate-address", "1s")
        try await eventually { runtime.text(phone.output).contains("Advertising as the phone Ann.") }
        // Each advert comes from another address.
        var count = 0
        try await eventually {
            let lines = runtime.text(receiver.output).split(separator: "\n").filter { $0.contains("\"rssi\"") }
            count = lines.count
            return count >= 5
        }
        #expect(!runtime.text(receiver.output).contains("},{"), "one beacon at a time")
        #expect(runtime.text(stranger.output).isEmpty)
    }

    @Test("Other programs hear a scenario in the air until its program ends")
    func scenario() async throws {
        let runtime = try Runtime()
        let air = try runtime.start("air", "air", "museum", "--loop")
        let receiver = try runtime.start("scan", "scan", "--json", "--source", "air@3,10")
        try await eventually { runtime.text(receiver.output).contains(#""major":1,"minor":1"#) }
        let list = try await BeaconProgram.run("air", "list", environment: runtime.environment)
        #expect(list.output.contains("6 beacons on the air, 1 listener"))
        #expect(list.output.contains("visitor at "))
        let refusal = try await BeaconProgram.run(
            "air", "move", "museum-\(air.process.id)", "--to", "1,1", environment: runtime.environment)
        #expect(refusal.status == 1)
        air.process.end(SIGTERM)
        let left = try await BeaconProgram.run("air", "list", environment: runtime.environment)
        #expect(left.output.contains("0 beacons on the air"))
    }

    @Test("Without a terminal, a device has a line when it appears, when it has moved and when it disappears")
    func log() async throws {
        let runtime = try Runtime()
        let show = try runtime.start("show", "air")
        let museum = try runtime.start("museum", "air", "museum", "--loop")
        let beacon = try runtime.start(
            "beacon", "advertise", "--uuid", Self.uuid, "--major", "4", "--minor", "7", "--source", "air@0.1,0")
        let name = "beacon-\(beacon.process.id)"
        let crowd = "museum-\(museum.process.id), sends 6 beacons of \(Self.uuid), 1 walking"
        try await eventually {
            let text = runtime.text(show.output)
            return text.contains(crowd) && text.contains("\(name) at 0.1,0, sends \(Self.uuid) 4/7\n")
        }
        let move = try await BeaconProgram.run(
            "air", "move", name, "--to", "1,1", "--speed", "2", environment: runtime.environment)
        #expect(move.status == 0)
        try await eventually { runtime.text(show.output).contains("\(name) at 1,1, sends \(Self.uuid) 4/7\n") }
        beacon.process.end(SIGTERM)
        try await eventually { runtime.text(show.output).contains("\(name) has left\n") }
        let lines = runtime.text(show.output).split(separator: "\n")
        // A walk has two lines, for its start and its end. The museum's visitor walks all the time. A device may appear
        // before it sends.
        #expect(lines.count { $0.hasPrefix("\(name) at") && $0.contains("sends") } == 2, "\(lines)")
        #expect(lines.count { $0.hasPrefix("museum-\(museum.process.id)") } == 1, "\(lines)")
        #expect(!runtime.text(show.output).contains("\u{1B}"))
    }

    @Test(
        "Mistakes are explained in a sentence",
        arguments: [
            (["range", "--source", "air@2"], 1, "write meters as X,Y"),
            (["scan", "--source", "simulaton:museum"], 1, "sources are auto, hci"),
            (["advertise", "--uuid", "new", "--source", "simulation:museum"], 1, "BEACON_SOURCE=air"),
            (["air", "list", "--name", "a/b"], 1, "1 to 40 letters"),
            (["air", "move", "1", "--to", "x"], 2, "write X,Y in meters"),
            (["air", "nowhere"], 1, "neither a built-in scenario"),
        ])
    func mistakes(arguments: [String], status: Int, sentence: String) async throws {
        let outcome = try await BeaconProgram.run(arguments)
        #expect(outcome.status == status)
        #expect(outcome.errors.contains(sentence))
        // --uuid new works without a radio.
        if arguments.contains("new") { #expect(outcome.errors.hasPrefix("The new UUID is ")) }
    }
}
