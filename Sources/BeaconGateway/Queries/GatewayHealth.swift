package import BeaconDelivery
import BeaconEventStore
import BeaconModel
import BeaconMonitoring
package import BeaconSupport
import Foundation

/// A statement about the health of a gateway.
package struct HealthFinding: Encodable, Sendable {
    /// The severities, the worst first.
    package enum Severity: String, Encodable, Sendable, CaseIterable { case error, warning, note, good }

    package var severity: Severity
    package var what: String
    @Nullable var remedy: String?

    package init(_ severity: Severity, _ what: String, remedy: String? = nil) {
        (self.severity, self.what, self.remedy) = (severity, what, remedy)
    }

    /// Returns findings, the worst first.
    package static func sorted(_ findings: [HealthFinding]) -> [HealthFinding] {
        Severity.allCases.flatMap { severity in findings.filter { $0.severity == severity } }
    }
}

/// The health of a gateway, for the HTTP interface and Home Assistant.
package struct GatewayHealth: Sendable {
    let gateway: Gateway
    package let consumer: RuleConsumer
    let delivery: DeliveryService<ContinuousClock>?
    /// The configuration of the file in use.
    let current: Locked<GatewayConfiguration>
    let fleet: FleetMember?

    package init(
        _ gateway: Gateway, consumer: RuleConsumer, delivery: DeliveryService<ContinuousClock>?,
        current: Locked<GatewayConfiguration>, fleet: FleetMember?
    ) {
        (self.gateway, self.consumer, self.delivery, self.current) = (gateway, consumer, delivery, current)
        self.fleet = fleet
    }

    /// Returns the errors and warnings in sentences, the worst first.
    package func problems() async -> [String] {
        await findings().filter { $0.severity == .error || $0.severity == .warning }.map(\.what)
    }

    /// Returns the findings, the worst first, including good ones.
    package func findings() async -> [HealthFinding] {
        var findings: [HealthFinding] = []
        let receivers = await gateway.receiverValues
        for source in await gateway.sourceValues {
            switch source.state {
            case "failing", "failed":
                findings.append(
                    .init(.error, "\(source.name): \(source.reason ?? "it fails")"))
            case "ended": findings.append(.init(.note, "\(source.name) has ended"))
            case "starting": findings.append(.init(.note, "\(source.name) starts"))
            case _ where receivers.allSatisfy { $0.source != source.name || $0.hearing == "unknown" }:
                findings.append(.init(.note, "\(source.name) is running, but no receiver hears yet"))
            default: findings.append(.init(.good, "\(source.name) is running"))
            }
        }
        for source in await gateway.crowdedSources {
            findings.append(.init(.warning, "\(source.name): \(source.report)"))
        }
        let now = Timestamp(seconds: Date().timeIntervalSince1970) ?? .zero
        for queue in (try? await delivery?.status()) ?? [] {
            if queue.failingSince != nil {
                let error = queue.lastError ?? "the reason is not known"
                findings.append(
                    .init(
                        queue.hasFailedForLong(at: now) ? .error : .warning,
                        "\(queue.name) does not accept notifications: \(error.sentence) \(queue.waiting) wait, and are "
                            + "delivered once it does"))
            } else if queue.deadLetters > 0 {
                findings.append(
                    .init(
                        .warning,
                        "\(queue.name) has refused \(queue.deadLetters) notifications. See "
                            + "Deliveries to send them again or drop them"))
            } else {
                findings.append(
                    .init(.good, "\(queue.name) accepts notifications"))
            }
        }
        for one in await consumer.rules where one.isEnabled {
            guard let trouble = one.runner?.trouble else { continue }
            // A program that cannot run needs the user.
            let severity: HealthFinding.Severity = one.runner?.fault == nil ? .warning : .error
            findings.append(.init(severity, "the rule \(one.rule.name) fails: \(trouble)"))
        }
        for (name, fault) in await gateway.launchFaults.sorted(by: { $0.key < $1.key }) {
            let what = "cannot start \(name.isEmpty ? "applications" : name): \(fault)"
            findings.append(.init(.warning, what))
        }
        if let failure = await fleet?.failure {
            findings.append(.init(.error, failure, remedy: "check the NATS servers and the network"))
        }
        if let loss = await fleet?.recentLoss {
            findings.append(.init(.warning, loss, remedy: "find out why the NATS servers lost data"))
        }
        findings += storeFindings()
        if let failure = await gateway.journalFailure {
            findings.append(
                .init(
                    .warning, "the journal is not written: \(failure)",
                    remedy: "make room on the disk, or write \"journal: false\" into the file; what happens until then "
                        + "cannot be replayed"))
        }
        if let tag = await gateway.configuration.tags.first, !receivers.isEmpty,
            receivers.allSatisfy({ $0.tags.hears == "no" })
        {
            findings.append(
                .init(
                    .warning, "no receiver passes on the adverts of phones, so \(tag.name) is never heard",
                    remedy: "use an adapter of this machine, an ESPHome proxy or a Shelly"))
        }
        let names = Set(receivers.map(\.name))
        // In a fleet, other machines may have the receivers.
        let places = fleet == nil ? current.withLock { $0.places } : nil
        for name in places?.receiverNames ?? [] where !names.contains(name) {
            findings.append(
                .init(
                    .warning,
                    "a place has the unknown receiver \(name). The receivers are "
                        + names.sorted().joined(separator: ", ")))
        }
        let unused = await gateway.configuration.items.compactMap { item in item.fault.map { (item, $0) } }
        for (item, fault) in unused {
            findings.append(.init(.warning, "the \(item.kind.rawValue) \(item.name) is not in use: \(fault)"))
        }
        let nearMatches = await gateway.nearMatches + (await fleet?.nearMatches ?? [])
        findings += nearMatches.map { .init(.note, $0) }
        return HealthFinding.sorted(findings)
    }

    /// Returns the findings about the event store, and about the rules that read its events.
    private func storeFindings() -> [HealthFinding] {
        var findings: [HealthFinding] = []
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
                    .error, "events are not stored: \(failure.message). \(health.waitingEvents) wait in memory",
                    remedy: remedy))
        }
        if health.isSlow {
            findings.append(
                .init(
                    .warning, "the disk is slow: writing events takes more than a second",
                    remedy: "find out what else uses the disk, or replace it"))
        }
        if let recovery = consumer.history.store.recovery,
            FileManager.default.fileExists(atPath: recovery.movedTo.path)
        {
            findings.append(
                .init(
                    .warning,
                    "the event store was damaged (\(recovery.damage)): \(recovery.events) events were recovered, "
                        + "\(recovery.unreadable) rows could not be read",
                    remedy: "check the disk, and delete \(recovery.movedTo.path) once you no longer need it"))
        }
        if let failure = consumer.failure {
            findings.append(
                .init(
                    .error, "rules cannot read events, which wait: \(failure)",
                    remedy: "check the disk, and that beacond can write to the folder"))
        }
        return findings
    }

}
