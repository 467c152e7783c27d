import BeaconEventStore
import BeaconGateway
import BeaconModel
import BeaconMonitoring
import BeaconSupport
import Dispatch
import Foundation
import Hummingbird
import LinuxRadio
import NIOCore

/// The routes of beacond's status, health and readiness.
struct StatusRoutes: Sendable {
    let settings: WebSettings
    let gateway: Gateway
    let current: CurrentConfiguration
    let health: GatewayHealth
    let broadcast: EventBroadcast
    let diagnoses: DiagnosisCache
    let started: Date

    private struct Status: Encodable, Sendable {
        var machine: String
        var version: String
        var started: Double
        var time: Double
        @Nullable var configuration: String?
        /// True if a token is needed, so that browsers sign in.
        var token: Bool
        /// True if there is no configuration yet.
        var setup: Bool
        var readOnly: Bool
        /// True if rules of the console may start programs.
        var programs: Bool
        /// The destinations that rules may notify.
        var destinations: [String]
        var listeners: Int
        var store: StoreValue
    }

    private struct Health: Encodable, Sendable {
        var status: String
        var findings: [HealthFinding]
    }

    func add(to router: RouterGroup<WebContext>) {
        router.on(.get, "status") { _, _ in
            // All times are in the gateway's clock, which for a recording is the recording's.
            let time = await gateway.newestTime.seconds
            let configuration = current.value
            return Status(
                machine: ProcessInfo.processInfo.hostName, version: ProgramVersion.current,
                started: time + started.timeIntervalSinceNow, time: time,
                configuration: configuration.path, token: settings.tokenHash != nil,
                setup: configuration.isSetup, readOnly: settings.isReadOnly,
                programs: settings.allowsPrograms || configuration.isSetup,
                destinations: await gateway.configuration.destinations.map(\.name),
                listeners: broadcast.count, store: StoreValue(health.consumer.history.store.usage))
        }
        router.on(.get, "why") { request, _ in
            if let region = request.parameter("region") {
                guard let why = await gateway.why(region: region) else {
                    throw Problem(.notFound, "unknown region")
                }
                return why
            }
            guard let text = request.parameter("beacon"), let beacon = BeaconConstraint(text)?.identity else {
                throw Problem(.badRequest, "pass \"region\" with a name, or \"beacon\" with UUID/MAJOR/MINOR")
            }
            guard let why = await gateway.why(beacon: beacon) else {
                throw Problem(.notFound, "unknown beacon")
            }
            return why
        }
        router.on(.get, "health") { _, _ in
            let findings = HealthFinding.sorted(await health.findings() + diagnosis())
            let status =
                switch findings.first?.severity {
                case .error: "failing"
                case .warning: "warning"
                default: "good"
                }
            return Health(status: status, findings: findings)
        }
        router.on(.get, "ready") { _, _ in
            // beacond is ready once a receiver hears. An orchestrator then starts dependent services.
            let isReady = await gateway.receiverValues.contains { $0.hearing == "hearing" }
            guard isReady else { throw Problem(.serviceUnavailable, "no receiver hears yet") }
            return ["ready": true]
        }
        router.on(.get, "live") { _, _ in
            // A missing radio is no reason for a restart, which would not help. A gateway that hangs does not answer.
            _ = await gateway.newestTime
            return ["live": true]
        }
        router.respond(.get, "schema.json") { _, _ in
            try Response.json(GatewayConfiguration.schema)
        }
    }

    /// Returns the cached findings of `beacon doctor`, if the gateway has adapters. While all of them run, problems
    /// concern only others, or an unused way to them.
    private func diagnosis() async -> [HealthFinding] {
        let adapters = Set(await gateway.configuration.sources.filter(\.specification.isAdapter).map(\.name))
        let states = await gateway.sourceValues.filter { adapters.contains($0.name) }.map(\.state)
        guard !states.isEmpty else { return [] }
        let problem: HealthFinding.Severity = states.allSatisfy { $0 == "running" } ? .note : .error
        let severities: [Finding.Level: HealthFinding.Severity] = [.ok: .good, .warning: .warning, .problem: problem]
        return await diagnoses.findings().map {
            HealthFinding(severities[$0.level] ?? .note, "\($0.subject): \($0.message)", remedy: $0.remedy)
        }
    }
}
