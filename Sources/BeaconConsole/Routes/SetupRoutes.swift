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

    private struct Start: Encodable {
        var path: String
        var secrets: String
        var sources: [GuidedStart.Source]
        var source: String
    }

    private struct Wish: Decodable {
        var source: String
    }

    private struct Written: Encodable {
        var path: String
        var yaml: String
        @Nullable var token: String?
    }

    private struct BrokerTrial: Encodable {
        var faults: [GuidedStart.Draft.Fault]
    }

    func add(to router: RouterGroup<WebContext>) {
        router.get("setup") { _, _ in
            let setup = try setup()
            return try Response.json(
                Start(
                    path: setup.path, secrets: setup.secretsPath,
                    sources: GuidedStart.sources(await diagnoses.findings()), source: setup.source))
        }
        router.put("setup/source") { request, _ in
            _ = try setup()
            var request = request
            let source = try await request.value(Wish.self).source
            do {
                try GuidedStart.validate(source: source)
            } catch {
                throw Problem(
                    .unprocessableContent, "\"source\": \(error)", errors: [.init(key: "source", detail: "\(error)")])
            }
            reload(current.value.hearing(source))
            return try Response.json(["source": source], status: .accepted)
        }
        router.post("setup/draft") { request, _ in
            let setup = try setup()
            var request = request
            return try Response.json(
                setup.draft(of: try await request.value(GuidedStart.Choice.self), web: settings))
        }
        router.post("setup/broker") { request, _ in
            _ = try setup()
            var request = request
            let fault = await (try await request.value(GuidedStart.Choice.Broker.self)).fault()
            return try Response.json(BrokerTrial(faults: [fault].compactMap(\.self)))
        }
        router.post("setup") { request, _ in
            let setup = try setup()
            var request = request
            let choice = try await request.value(GuidedStart.Choice.self)
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
            return try Response.json(
                Written(path: setup.path, yaml: draft.yaml, token: setup.token?.reveal()), status: .created)
        }
    }

    private func setup() throws -> GuidedStart {
        guard let setup = current.value.setup else {
            throw Problem(.conflict, "there is a configuration, and the guided start is over")
        }
        return setup
    }
}
