import BeaconConfiguration
import BeaconDelivery
import BeaconSupport
import Foundation
import GatewayTestSupport
import HTTPTypes
import TestSupport
import Testing

@testable import BeaconConsole
@testable import BeaconGateway

@Suite("Secrets of the console")
struct SecretTests {
    private static let destination = """
        destinations:
          - { name: home, type: webhook, url: "https://example.com", secret: { secret: broker } }
        """

    private static func file(_ folder: URL, _ rest: String = "") throws -> String {
        let path = folder.appendingPathComponent("beacond.yaml").path
        let text = "sources: []\nweb: true\noutbox: { path: \(folder.path)/beacond.sqlite }\n\(rest)\n"
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        return path
    }

    private static func send(
        _ web: WebBench, _ method: HTTPRequest.Method, _ name: String, _ value: String? = nil
    ) async throws -> WebBench.Answer {
        try await web.ask(
            method, "/v1/secrets/\(name)", headers: [.consoleRequest: "1"], body: value.map { #"{"value":"\#($0)"}"# })
    }

    @Test("A secret is set, listed, replaced and removed, but never shown, logged or backed up")
    func life() async throws {
        let bench = try GatewayBench()
        let configuration = try GatewayConfiguration.check(
            file: try Self.file(bench.folder), environment: [:]
        ).configuration
        let web = try WebBench(bench: bench) { $0 = configuration }
        let set = try await Self.send(web, .put, "broker", "open sesame")
        #expect(set.status == 200 && set.json["uses"] as? [String] == [], "\(set.body)")
        let folder = bench.folder.appendingPathComponent("secrets").path
        let path = folder + "/broker"
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "open sesame")
        func mode(_ path: String) throws -> Int? {
            try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        }
        #expect(try mode(folder) == 0o700)
        #expect(try mode(path) == 0o600)
        #expect(try await Self.send(web, .put, "broker", "other words").status == 200)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["broker"])
        let list = try await web.ask(.get, "/v1/secrets")
        let names = (list.json["secrets"] as? [[String: Any]])?.compactMap { $0["name"] as? String }
        #expect(names == ["broker"])
        // No one uses it, so that nothing is read again.
        #expect(web.configurations.withLock { $0.isEmpty })
        let backup = bench.folder.appendingPathComponent("backup")
        try await Backup.write(to: backup, configuration: configuration.path, store: web.state.store)
        let shown = set.body + list.body + bench.lines.all.joined()
        for secret in ["open sesame", "other words"] {
            #expect(!shown.contains(secret))
            #expect(try Data(contentsOf: backup).firstRange(of: Data(secret.utf8)) == nil)
        }
        #expect(try await Self.send(web, .delete, "broker").status == 204)
        #expect(try await Self.send(web, .delete, "broker").status == 404)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == [])
    }

    @Test("Names that leave the folder, and empty values, are refused")
    func refused() async throws {
        let bench = try GatewayBench()
        let path = try Self.file(bench.folder)
        let configuration = try GatewayConfiguration.check(file: path, environment: [:]).configuration
        let web = try WebBench(bench: bench) { $0 = configuration }
        for name in ["..%2Fout", ".hidden", "a%20b", String(repeating: "a", count: 101)] {
            #expect(try await Self.send(web, .put, name, "x").status == 422, "\(name)")
            #expect(try await Self.send(web, .delete, name).status == 404, "\(name)")
        }
        for value in ["", #"\n"#, #"a\u0000"#, String(repeating: "a", count: 16 << 10 | 1)] {
            #expect(try await Self.send(web, .put, "name", value).status == 422)
        }
    }

    @Test("A file refers to a secret, which the check misses, and which cannot be removed")
    func used() async throws {
        let bench = try GatewayBench()
        let path = try Self.file(bench.folder, Self.destination)
        let missing = try GatewayConfiguration.check(file: path, environment: [:])
        #expect(
            missing.diagnostics.map(\.message) == [
                "\"secret\" needs the secret \"broker\", which is not set here; set it in the console (Settings, Secrets), or write it into \(bench.folder.path)/secrets/broker"
            ])
        let secret = Secret("a secret that is long enough")
        try StoredSecrets(besideStore: missing.configuration.outbox.path).set("broker", to: secret)
        let checked = try GatewayConfiguration.check(file: path, environment: [:])
        #expect(checked.isUsable, "\(checked.diagnostics)")
        guard case .webhook(let webhook)? = checked.configuration.destinations.first?.kind else {
            Issue.record("it is no webhook")
            return
        }
        #expect(webhook.signingSecrets == [secret])
        let web = try WebBench(bench: bench) { $0 = checked.configuration }
        let refused = try await Self.send(web, .delete, "broker")
        #expect(refused.status == 409 && refused.body.contains("destinations.home.secret"), "\(refused.body)")
        #expect(try await Self.send(web, .put, "broker", "q").status == 200)
        #expect(web.configurations.withLock { $0.count } == 1)
    }

    @Test("A reference has exactly one origin")
    func origins() throws {
        let bench = try GatewayBench()
        let text = Self.destination.replacing("{ secret: broker }", with: "{ secret: broker, env: A }")
        let checked = try GatewayConfiguration.check(file: try Self.file(bench.folder, text), environment: [:])
        #expect(
            checked.diagnostics.map(\.message) == [#""secret" needs one of "env", "file" and "secret""#])
    }
}
