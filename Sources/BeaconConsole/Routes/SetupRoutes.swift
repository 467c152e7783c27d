import BeaconGateway
import BeaconMonitoring
import BeaconSupport
import Foundation
import HTTPTypes
import Hummingbird
import Logging

/// The routes of the guided start, which runs before a configuration exists.
struct SetupRoutes: Sendable {
    let settings: WebSettings
    let current: CurrentConfiguration
    let diagnoses: DiagnosisCache
    /// Reads the configuration file again, or uses the given configuration.
    let reload: @Sendable (GatewayConfiguration?) -> Void
    let logger: Logger

    private struct Setup: Encodable, Sendable {
        var path: String
        var secrets: String
        var sources: [GuidedStart.Source]
        var source: String
    }

    private struct SourceRequest: Decodable, Sendable {
        var source: GuidedStart.Sources
    }

    private struct WrittenConfiguration: Encodable, Sendable {
        var path: String
        var yaml: String
        @Nullable var token: String?
    }

    func add(to router: RouterGroup<WebContext>) {
        router.on(.get, "setup") { _, _ in
            let setup = try setup()
            return Setup(
                path: setup.path, secrets: setup.secretsPath,
                sources: GuidedStart.sources(await diagnoses.findings()), source: setup.source)
        }
        router.on(.put, "setup/source", status: .accepted) { request, _ in
            let setup = try setup()
            let (sources, faults) = try await request.value(of: SourceRequest.self).source.read(beside: setup.path)
            guard faults.isEmpty else { throw Problem(faults) }
            reload(current.value.hearing(sources))
            return ["source": sources.map(\.name).joined(separator: ", ")]
        }
        router.on(.post, "setup/draft") { request, _ in
            try setup().draft(of: try await request.value(of: GuidedStart.Choice.self), web: settings)
        }
        router.on(.post, "setup/broker") { request, _ in
            _ = try setup()
            let fault = await (try await request.value(of: GuidedStart.Choice.Broker.self)).fault()
            return ["faults": [fault].compactMap(\.self)]
        }
        router.on(.post, "setup", status: .created) { request, _ in
            let setup = try setup()
            let choice = try await request.value(of: GuidedStart.Choice.self)
            let draft = try setup.draft(of: choice, web: settings)
            guard draft.faults.isEmpty else { throw Problem(draft.faults) }
            do throws(StateError) {
                try setup.write(draft, of: choice)
            } catch {
                throw Problem(.conflict, error.message)
            }
            logger.notice("wrote the configuration to \(setup.path)")
            reload(nil)
            return WrittenConfiguration(path: setup.path, yaml: draft.yaml, token: setup.token?.reveal())
        }
    }

    private func setup() throws -> GuidedStart { try current.setup() }
}

extension CurrentConfiguration {
    /// Returns the guided start.
    ///
    /// - Throws: ``Problem`` if there is a configuration.
    func setup() throws -> GuidedStart {
        guard let setup = value.setup else {
            throw Problem(.conflict, "the configuration exists already; the guided start is over")
        }
        return setup
    }
}

extension Problem {
    /// Creates the problem of a choice with faults.
    init(_ faults: [GuidedStart.Draft.Fault]) {
        self.init(
            .unprocessableContent, faults.map(\.detail).joined(separator: "; "),
            errors: faults.map { .init(key: $0.key, detail: $0.detail) })
    }
}
