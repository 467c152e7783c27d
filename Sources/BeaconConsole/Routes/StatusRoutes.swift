import BeaconDelivery
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
    let consumer: RuleConsumer
    let delivery: DeliveryService<ContinuousClock>?
    let current: CurrentConfiguration
    let broadcast: EventBroadcast
    let diagnoses: DiagnosisCache
    let fleet: FleetMember?
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
        struct Finding: Encodable, Sendable {
            var severity: String
            var what: String
            @Nullable var remedy: String?
        }

        var status: String
        var findings: [Finding]
    }

    private struct Readiness: Encodable, Sendable {
        var ready: Bool
    }

    private struct Liveness: Encodable, Sendable {
        var live: Bool
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
                destinations: configuration.destinations.map(\.name),
                listeners: broadcast.count, store: StoreValue(consumer.history.store.usage))
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
            let findings = await findings()
            let status =
                findings.contains { $0.severity == "error" }
                ? "failing" : findings.contains { $0.severity == "warning" } ? "warning" : "good"
            return Health(status: status, findings: findings)
        }
        router.on(.get, "ready") { _, _ in
            // beacond is ready once a receiver hears. An orchestrator then starts dependent services.
            let isReady = await gateway.receiverValues.contains { $0.hearing == "hearing" }
            guard isReady else { throw Problem(.serviceUnavailable, "no receiver hears yet") }
            return Readiness(ready: true)
        }
        router.on(.get, "live") { _, _ in
            // A missing radio is no reason for a restart, which would not help. A gateway that hangs does not answer.
            _ = await gateway.newestTime
            return Liveness(live: true)
        }
        router.respond(.get, "schema.json") { _, _ in
            try Response.json(GatewayConfiguration.schema)
        }
    }

    /// Returns the findings, the worst first, including good ones.
    private func findings() async -> [Health.Finding] {
        var findings: [Health.Finding] = []
        for source in await gateway.sourceValues {
            switch source.state {
            case "failing", "failed":
                findings.append(
                    .init(severity: "error", what: "\(source.name): \(source.reason ?? "it fails")", remedy: nil))
            case "ended": findings.append(.init(severity: "note", what: "\(source.name) has ended", remedy: nil))
            case "starting": findings.append(.init(severity: "note", what: "\(source.name) starts", remedy: nil))
            default: findings.append(.init(severity: "good", what: "\(source.name) is running", remedy: nil))
            }
        }
        for source in await gateway.crowdedSources {
            findings.append(.init(severity: "warning", what: "\(source.name): \(source.report)", remedy: nil))
        }
        let now = Timestamp(seconds: Date().timeIntervalSince1970) ?? .zero
        for queue in (try? await delivery?.status()) ?? [] {
            if queue.failingSince != nil {
                let error = queue.lastError ?? "the reason is not known"
                findings.append(
                    .init(
                        severity: queue.hasFailedForLong(at: now) ? "error" : "warning",
                        what:
                            "\(queue.name) does not accept notifications: \(error.sentence) \(queue.waiting) wait, and are "
                            + "delivered once it does", remedy: nil))
            } else if queue.deadLetters > 0 {
                findings.append(
                    .init(
                        severity: "warning",
                        what:
                            "\(queue.name) has refused \(queue.deadLetters) notifications. See "
                            + "Deliveries to send them again or drop them", remedy: nil))
            } else {
                findings.append(
                    .init(severity: "good", what: "\(queue.name) accepts notifications", remedy: nil))
            }
        }
        for one in await consumer.rules where one.isEnabled {
            guard let trouble = await one.runner?.trouble else { continue }
            // A program that cannot run needs the user.
            let severity = one.runner?.fault == nil ? "warning" : "error"
            findings.append(.init(severity: severity, what: "the rule \(one.rule.name) fails: \(trouble)", remedy: nil))
        }
        for (name, fault) in await gateway.launchFaults.sorted(by: { $0.key < $1.key }) {
            let what = "cannot start \(name.isEmpty ? "applications" : name): \(fault)"
            findings.append(.init(severity: "warning", what: what, remedy: nil))
        }
        if let failure = await fleet?.failure {
            findings.append(.init(severity: "error", what: failure, remedy: "check the NATS servers and the network"))
        }
        if let loss = await fleet?.recentLoss {
            findings.append(.init(severity: "warning", what: loss, remedy: "find out why the NATS servers lost data"))
        }
        findings += storeFindings()
        let names = Set(await gateway.receiverValues.map(\.name))
        for name in current.value.places?.receiverNames ?? [] where !names.contains(name) {
            findings.append(
                .init(
                    severity: "warning",
                    what:
                        "a place has the unknown receiver \(name). The receivers are "
                        + names.sorted().joined(separator: ", "), remedy: nil))
        }
        let radios = Set(current.value.sources.filter(\.specification.isAdapter).map(\.name))
        let states = await gateway.sourceValues.filter { radios.contains($0.name) }.map(\.state)
        if !states.isEmpty { findings += await diagnosis(isRunning: states.allSatisfy { $0 == "running" }) }
        let order = ["error": 0, "warning": 1, "note": 2, "good": 3]
        return findings.enumerated().sorted {
            (order[$0.element.severity] ?? 4, $0.offset) < (order[$1.element.severity] ?? 4, $1.offset)
        }.map(\.element)
    }

    /// Returns the findings about the event store, and about the rules that read its events.
    private func storeFindings() -> [Health.Finding] {
        var findings: [Health.Finding] = []
        let health = consumer.history.store.health
        if let failure = health.failure {
            let remedy =
                switch failure.code {
                case .full: "make room on the disk"
                case .locked: "end the program that locks the file"
                default: "check the disk, and that beacond can write to the folder"
                }
            findings.append(
                .init(
                    severity: "error",
                    what: "events are not stored: \(failure.message). \(health.waitingEvents) wait in memory",
                    remedy: remedy))
        }
        if health.isSlow {
            findings.append(
                .init(
                    severity: "warning", what: "the disk is slow: writing events takes more than a second",
                    remedy: "find out what else uses the disk, or replace it"))
        }
        if let recovery = consumer.history.store.recovery,
            FileManager.default.fileExists(atPath: recovery.movedTo.path)
        {
            findings.append(
                .init(
                    severity: "warning",
                    what:
                        "the event store was damaged (\(recovery.damage)): \(recovery.events) events were recovered, "
                        + "\(recovery.unreadable) rows could not be read",
                    remedy: "check the disk, and delete \(recovery.movedTo.path) once you no longer need it"))
        }
        if let failure = consumer.failure {
            findings.append(
                .init(
                    severity: "error", what: "rules cannot read events, which wait: \(failure)",
                    remedy: "check the disk, and that beacond can write to the folder"))
        }
        return findings
    }

    /// Returns the cached findings of `beacon doctor`.
    ///
    /// - Parameter isRunning: true if all adapters run, so that problems concern only others, or an unused way to them.
    private func diagnosis(isRunning: Bool) async -> [Health.Finding] {
        let problem = isRunning ? "note" : "error"
        let severities: [Finding.Level: String] = [.ok: "good", .warning: "warning", .problem: problem]
        return await diagnoses.findings().map {
            Health.Finding(
                severity: severities[$0.level] ?? "note", what: "\($0.subject): \($0.message)", remedy: $0.remedy)
        }
    }
}
