import Foundation
import Glibc
import TestSupport
import Testing

@Suite("beacon authorization", .fewAtATime)
struct AuthorizationTests {
    @Test("Decisions are listed, and stored in the user's state folder")
    func decisions() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID())").path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let environment = ["XDG_STATE_HOME": folder]
        let none = try await BeaconProgram.run("authorization", environment: environment)
        #expect(none.status == 0)
        #expect(none.output.isEmpty)
        _ = try await BeaconProgram.run("authorization", "grant", "com.example.museum", environment: environment)
        _ = try await BeaconProgram.run("authorization", "deny", "shop", environment: environment)
        let list = try await BeaconProgram.run("authorization", "list", environment: environment)
        #expect(list.lines == ["com.example.museum  always", "shop                denied"])
        #expect(
            FileManager.default.fileExists(
                atPath: folder + "/swift-beacon/applications/shop/authorization.json"))
    }

    // MARK: - Requests

    @Test("An app without a terminal waits for an answer from the command", arguments: ["whenInUse", "always"])
    func answeredByCommand(_ request: String) async throws {
        let app = try Asker(request, policy: "ask")
        try await app.waits(for: ["not determined"])
        try await eventually { try await app.command("pending").output.contains("asks for \(request)") }
        #expect(try await app.command("list").output.contains("notDetermined  (waits for an answer)"))
        let answer = try await app.command("grant")
        #expect(answer.status == 0, "\(answer.errors)")
        try await app.waits(for: ["not determined", request == "always" ? "always" : "when in use"])
        try await eventually { try await app.command("pending").output.isEmpty }
        // A later decision takes effect even while the app runs.
        _ = try await app.command("deny", app.name)
        try await app.waits(for: ["not determined", request == "always" ? "always" : "when in use", "denied"])
    }

    @Test("If an app's request for more is refused, it keeps its permission")
    func refusedMore() async throws {
        let app = try Asker("always", policy: "ask")
        try await eventually { try await app.command("pending").output.contains("asks for always") }
        #expect(try await app.command("grant", "--when-in-use").status == 0)
        try await app.waits(for: ["not determined", "when in use"])
        try await eventually { try await app.command("pending").output.isEmpty }
        #expect(try await app.command("list").output.contains("whenInUse"))
    }

    @Test("The request of a killed app disappears, and returns when the app starts again")
    func killed() async throws {
        let app = try Asker("whenInUse", policy: "ask")
        try await eventually { try await app.command("pending").output.contains("whenInUse") }
        app.process.end(SIGKILL)
        #expect(try await app.command("pending").output.isEmpty)
        let refused = try await app.command("grant")
        #expect(refused.status == 2)
        #expect(refused.errors.contains("No app waits for an answer"))
        let again = try Asker("whenInUse", policy: "ask", folder: app.folder)
        try await eventually { try await again.command("pending").output.contains("whenInUse") }
        withExtendedLifetime(app) {}
    }

    @Test(
        "The policy of an app's environment answers its requests",
        arguments: [("", "when in use"), ("grant", "when in use"), ("deny", "denied")])
    func policy(policy: String, status: String) async throws {
        try await Asker("whenInUse", policy: policy).waits(for: ["not determined", status])
    }

    @Test("An invalid policy grants nothing, and the log explains why")
    func unknownPolicy() async throws {
        let app = try Asker("whenInUse", policy: "maybe")
        try await app.waits(for: ["denied"])
        #expect(
            app.output.contains { $0.contains("BEACON_AUTHORIZATION has \"maybe\"; use grant, deny or ask") })
    }

    @Test("An app asks in its terminal, and again after an invalid answer")
    func terminal() async throws {
        let app = try Asker("always", policy: "", inTerminal: true)
        try await eventually { app.output.contains { $0.contains("asks to detect nearby beacons at any time") } }
        app.type("perhaps\n")
        try await eventually { app.output.filter { $0.contains("[a] always") }.count == 2 }
        app.type("YES\n")
        try await eventually { app.output.contains("when in use") }
        #expect(try await app.command("list").output.contains("whenInUse"))
    }

    @Test("A question in a terminal is withdrawn if it is answered elsewhere")
    func terminalAnsweredElsewhere() async throws {
        let app = try Asker("whenInUse", policy: "", inTerminal: true)
        try await eventually { app.output.contains { $0.contains("[y] yes, while it runs") } }
        try await eventually { try await app.command("pending").output.contains("whenInUse") }
        #expect(try await app.command("deny").status == 0)
        // The app's output follows the prompt on the same line if the app is faster than the question's thread.
        try await eventually {
            app.output.contains { $0 == "denied" || $0.hasSuffix("> denied") }
                && app.output.contains("Answered elsewhere: no.")
        }
    }
}

/// An app that asks for a permission, with a separate state folder.
private final class Asker: Sendable {
    let folder: String
    let process: ChildProcess
    private let isOwner: Bool
    private let keyboard: Int32
    private let file: String

    init(_ request: String, policy: String, inTerminal: Bool = false, folder earlier: String? = nil) throws {
        isOwner = earlier == nil
        let folder = earlier ?? FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID())").path
        self.folder = folder
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        // A separate air, without beacons, which needs no radio.
        try FileManager.default.createDirectory(
            atPath: folder + "/runtime", withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let fifo = folder + "/keyboard"
        mkfifo(fifo, 0o600)
        keyboard = open(fifo, O_RDWR | O_CLOEXEC)
        file = folder + "/output"
        let app = Product.path("AskingApp") + " " + request
        let environment =
            "XDG_STATE_HOME='\(folder)' XDG_RUNTIME_DIR='\(folder)/runtime' BEACON_SOURCE=air "
            + "BEACON_AUTHORIZATION='\(policy)'"
        process = try ChildProcess(
            "/bin/sh",
            [
                "-c",
                "exec env \(environment) "
                    + (inTerminal ? "/usr/bin/script -qefc '\(app)' /dev/null < '\(fifo)'" : app) + " 2>&1",
            ], output: file)
    }

    deinit {
        process.end(SIGKILL)
        close(keyboard)
        if isOwner { try? FileManager.default.removeItem(atPath: folder) }
    }

    /// The name of the app in lists.
    var name: String { URL(fileURLWithPath: Product.path("AskingApp")).resolvingSymlinksInPath().path }

    /// The lines that the app has printed.
    var output: [String] {
        let text = (try? String(contentsOfFile: file, encoding: .utf8)) ?? ""
        return text.split(whereSeparator: \.isNewline).map(String.init)
    }

    /// Returns once the app has printed these statuses and no others.
    func waits(for lines: [String]) async throws {
        let words = ["not determined", "when in use", "always", "denied", "restricted"]
        try await eventually { self.output.filter(words.contains) == lines }
    }

    func type(_ text: String) { _ = write(keyboard, text, text.utf8.count) }

    func command(_ arguments: String...) async throws -> BeaconProgram.Outcome {
        try await BeaconProgram.run(["authorization"] + arguments, environment: ["XDG_STATE_HOME": folder])
    }
}
