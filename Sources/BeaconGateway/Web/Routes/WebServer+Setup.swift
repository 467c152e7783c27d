import BeaconMonitoring
import BeaconSupport
import Foundation
import HTTPTypes
import Hummingbird
import LinuxRadio
import Logging

/// The guided start, where there is no configuration so far.
extension WebServer {
    private struct Source: Encodable {
        var source: String
        var title: String
        var usable: Bool
        @Nullable var reason: String?
        var isRadio: Bool
    }

    private struct Start: Encodable {
        var path: String
        var sources: [Source]
        var source: String
    }

    private struct Wish: Decodable {
        var source: String
    }

    private struct Draft: Encodable {
        struct Fault: Encodable {
            var key: String
            var detail: String
        }

        var yaml: String
        var faults: [Fault]
    }

    private struct Written: Encodable {
        var path: String
        var yaml: String
    }

    func addSetup(to router: RouterGroup<WebContext>) {
        router.get("setup") { _, _ in
            let setup = try setup()
            return try Response.json(Start(path: setup.path, sources: await sources(), source: setup.source))
        }
        router.put("setup/source") { request, _ in
            _ = try setup()
            var request = request
            let source = try await request.value(Wish.self).source
            // What ends by itself, or is read from a file, ends the guided start.
            let kinds = ["auto", "hci", "bluez", "air", "simulation:"]
            guard kinds.contains(where: source.hasPrefix) else {
                let detail = "is none of auto, hci, bluez, air and simulation:NAME"
                throw Problem(
                    .unprocessableContent, "\"source\" \(detail)", errors: [.init(key: "source", detail: detail)])
            }
            do {
                try SourceSpecification(source).validate()
            } catch {
                throw Problem(
                    .unprocessableContent, "\(error)", errors: [.init(key: "source", detail: "\(error)")])
            }
            reload(configuration.hearing(source))
            return try Response.json(["source": source], status: .accepted)
        }
        router.post("setup/draft") { request, _ in
            var request = request
            let (yaml, faults) = try draft(try await request.value(GuidedStart.Choice.self))
            return try Response.json(Draft(yaml: yaml, faults: faults))
        }
        router.post("setup") { request, _ in
            let setup = try setup()
            var request = request
            let choice = try await request.value(GuidedStart.Choice.self)
            let (yaml, faults) = try draft(choice)
            guard faults.isEmpty else {
                throw Problem(
                    .unprocessableContent, faults.map(\.detail).joined(separator: "; "),
                    errors: faults.map { .init(key: $0.key, detail: $0.detail) })
            }
            do {
                try setup.write(yaml, secrets: setup.secrets(of: choice))
            } catch let error as CocoaError where error.code == .fileWriteFileExists {
                throw Problem(.conflict, "there is a file \(setup.path) already, which is not written over")
            } catch let error as StateError {
                throw Problem(.conflict, error.message)
            } catch {
                throw Problem(.conflict, "cannot write \(setup.path): \(error.localizedDescription)")
            }
            logger.notice("the configuration was written to \(setup.path)")
            reload(nil)
            return try Response.json(Written(path: setup.path, yaml: yaml), status: .created)
        }
    }

    private func setup() throws -> GuidedStart {
        guard let setup = configuration.setup else {
            throw Problem(.conflict, "there is a configuration, and the guided start is over")
        }
        return setup
    }

    private func draft(_ choice: GuidedStart.Choice) throws -> (yaml: String, faults: [Draft.Fault]) {
        let setup = try setup()
        var web = settings
        // For this machine alone no token is needed, as without a guided start.
        if web.isLoopback { web.tokenHash = nil }
        let yaml = try setup.text(of: choice, web: web)
        let folder = URL(fileURLWithPath: setup.path).deletingLastPathComponent()
        let checked = GatewayConfiguration.check(yaml, folder: folder, environment: setup.secrets(of: choice))
        let errors = checked.diagnostics.filter { $0.severity == .error }
        // Each item by itself, so that a fault has its place.
        let faults = choice.faults(beside: checked.configuration) + [choice.passwordFault].compactMap(\.self)
        if !faults.isEmpty || errors.isEmpty {
            return (yaml, faults.map { Draft.Fault(key: $0.key, detail: $0.message) })
        }
        var keys = ["url": "webhook", "sources": "source", "from": "source"]
        if choice.broker != nil { for key in ["host", "port", "user", "password"] { keys[key] = "broker.\(key)" } }
        return (
            yaml,
            errors.map { error in
                let key = ConfigurationItem.Fault(error.message).key
                return Draft.Fault(key: keys[key] ?? key, detail: error.message)
            }
        )
    }

    /// Returns what can be heard with: this machine's radios, and the air and the museum for whoever has none.
    private func sources() async -> [Source] {
        let findings = await diagnoses.findings()
        let adapters = Set(findings.map(\.subject).filter { $0.wholeMatch(of: /hci[0-9]+/) != nil }).sorted()
        var sources: [Source] = []
        func problem(_ subjects: Set<String>?) -> String? {
            let found = findings.first { $0.level == .problem && subjects?.contains($0.subject) ?? true }
            return found.map { finding in
                let message = finding.message.hasSuffix(".") ? String(finding.message.dropLast()) : finding.message
                return "\(finding.subject): \(message)" + (finding.remedy.map { "; \($0)" } ?? "")
            }
        }
        let isUsable = adapters.contains { problem([$0]) == nil }
        sources.append(
            Source(
                source: "auto", title: "this machine's Bluetooth radio", usable: isUsable,
                reason: isUsable ? nil : problem(nil) ?? "this machine has no Bluetooth radio", isRadio: true))
        if adapters.count > 1 {
            for adapter in adapters {
                let reason = problem([adapter])
                sources.append(
                    Source(
                        source: "hci:\(adapter)", title: "the radio \(adapter) alone", usable: reason == nil,
                        reason: reason, isRadio: true))
            }
        }
        sources.append(
            Source(
                source: "simulation:museum?loop", title: "a simulated museum, to try it without a radio", usable: true,
                reason: nil, isRadio: false))
        sources.append(
            Source(
                source: "air", title: "the simulated air that programs of this machine share", usable: true,
                reason: nil, isRadio: false))
        return sources
    }
}
