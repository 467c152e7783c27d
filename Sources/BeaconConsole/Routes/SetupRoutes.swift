import BeaconGateway
import BeaconMonitoring
import BeaconSupport
import Foundation
import HTTPTypes
import Hummingbird
import Logging

/// Routes of the guided start, before there is a configuration.
struct SetupRoutes: Sendable {
    let settings: WebSettings
    let current: CurrentConfiguration
    let diagnoses: DiagnosisCache
    /// Reads the configuration again, or uses another one.
    let reload: @Sendable (GatewayConfiguration?) -> Void
    let logger: Logger

    private struct Setup: Codable, Sendable {
        var path: String
        var secrets: String
        var sources: [GuidedStart.Source]
        var source: String
    }

    private struct SourceRequest: Decodable, Sendable {
        var source: String
    }

    private struct ListeningSource: Codable, Sendable {
        var source: String
    }

    private struct WrittenConfiguration: Codable, Sendable {
        var path: String
        var yaml: String
        @Nullable var token: String?
    }

    private struct BrokerTrial: Codable, Sendable {
        var faults: [GuidedStart.Draft.Fault]
    }

    func add(to router: InterfaceRouter) {
        router.on(
            .get, "setup",
            Operation(
                "getSetup", .setup, "Get the choices of the guided start", "The sources of this machine.",
                errors: [.isSetUp])
        ) { _, _ in
            let setup = try setup()
            return Setup(
                path: setup.path, secrets: setup.secretsPath,
                sources: GuidedStart.sources(await diagnoses.findings()), source: setup.source)
        }
        router.on(
            .put, "setup/source",
            Operation(
                "setSetupSource", .setup, "Listen with another source",
                "beacond uses it at once. The interface does not answer for a moment.", errors: [.isSetUp]),
            status: .accepted
        ) { (sent: Sent<SourceRequest>, _) in
            _ = try setup()
            let source = try await sent.value().source
            do {
                try GuidedStart.validate(source: source)
            } catch {
                throw Problem(
                    .unprocessableContent, "\"source\": \(error)", errors: [.init(key: "source", detail: "\(error)")])
            }
            reload(current.value.hearing(source))
            return ListeningSource(source: source)
        }
        router.on(
            .post, "setup/draft",
            Operation(
                "draftConfiguration", .setup, "Get the configuration as it would be written",
                "The configuration, and its faults.", errors: [.isSetUp])
        ) { (sent: Sent<GuidedStart.Choice>, _) in
            try setup().draft(of: try await sent.value(), web: settings)
        }
        router.on(
            .post, "setup/broker",
            Operation(
                "tryBroker", .setup, "Check that a broker accepts beacond",
                "The faults; empty where the broker accepts beacond.",
                details: "It is connected to once, which takes up to twelve seconds where nothing answers.",
                errors: [.isSetUp])
        ) { (sent: Sent<GuidedStart.Choice.Broker>, _) in
            _ = try setup()
            let fault = await (try await sent.value()).fault()
            return BrokerTrial(faults: [fault].compactMap(\.self))
        }
        router.on(
            .post, "setup",
            Operation(
                "writeConfiguration", .setup, "Write the configuration",
                "It is written, and beacond uses it at once. The interface does not answer for a moment.",
                errors: [.isSetUp]
            ), status: .created
        ) { (sent: Sent<GuidedStart.Choice>, _) in
            let setup = try setup()
            let choice = try await sent.value()
            let draft = try setup.draft(of: choice, web: settings)
            guard draft.faults.isEmpty else {
                throw Problem(
                    .unprocessableContent, draft.faults.map(\.detail).joined(separator: "; "),
                    errors: draft.faults.map { .init(key: $0.key, detail: $0.detail) })
            }
            do throws(StateError) {
                try setup.write(draft, of: choice)
            } catch {
                throw Problem(.conflict, error.message)
            }
            logger.notice("the configuration was written to \(setup.path)")
            reload(nil)
            return WrittenConfiguration(path: setup.path, yaml: draft.yaml, token: setup.token?.reveal())
        }
    }

    private func setup() throws -> GuidedStart {
        guard let setup = current.value.setup else {
            throw Problem(.conflict, "there is a configuration, and the guided start is over")
        }
        return setup
    }
}
