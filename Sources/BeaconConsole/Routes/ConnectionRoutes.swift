import BeaconConfiguration
import BeaconDelivery
import BeaconGateway
import BeaconModel
import BeaconSupport
import Foundation
import HTTPTypes
import Hummingbird

/// The routes of sources and destinations from the file and the console, and their trials.
struct ConnectionRoutes: Sendable {
    let gateway: Gateway
    let changes: ItemChanges
    let diagnoses: DiagnosisCache
    /// True when beacond is ending.
    let isEnding: Locked<Bool>

    /// The most trials at once. Each makes a connection.
    private static let most = 4
    private let trials = Locked(0)

    init(gateway: Gateway, changes: ItemChanges, diagnoses: DiagnosisCache, isEnding: Locked<Bool>) {
        (self.gateway, self.changes, self.diagnoses, self.isEnding) = (gateway, changes, diagnoses, isEnding)
    }

    /// A configured source or destination.
    private struct Connection: Encodable, Sendable {
        var name: String
        /// The kind: radio, simulation, file, mqtt, esphome or http for a source; the type of a destination.
        var kind: String
        var origin: String
        var settings: JSONValue
        /// True if it can be taken over from the file.
        var movable: Bool
    }

    private struct Sources: Encodable, Sendable {
        var sources: [SourceValue]
        var configured: [Connection]
        var unused: [UnusedItemValue]
    }

    private struct Destinations: Encodable, Sendable {
        var destinations: [Connection]
        var unused: [UnusedItemValue]
    }

    func add(to router: RouterGroup<WebContext>) {
        router.on(.get, "sources") { _, _ in
            Sources(
                sources: await gateway.sourceValues, configured: await connections(.source),
                unused: await gateway.configuration.unusedItems(.source))
        }
        router.on(.get, "destinations") { _, _ in
            Destinations(
                destinations: await connections(.destination),
                unused: await gateway.configuration.unusedItems(.destination))
        }
        for (kind, path) in [(ConfigurationItem.Kind.source, "sources"), (.destination, "destinations")] {
            changes.add(of: kind, at: path, to: router) { name in
                await connections(kind).first { $0.name == name }
            }
            router.on(.post, path + "/try") { request, _ in
                try await tried(kind, request)
            }
        }
    }

    private func connections(_ kind: ConfigurationItem.Kind) async -> [Connection] {
        let configuration = await gateway.configuration
        let items = configuration.itemsInUse(kind)
        func connection(_ name: String, _ word: String) -> Connection {
            let (origin, settings) = items[name].shown(name)
            return Connection(
                name: name, kind: word, origin: origin, settings: settings,
                movable: items[name] != nil && origin == ConfigurationItem.Origin.file.rawValue)
        }
        return kind == .source
            ? configuration.sources.map { connection($0.name, $0.word) }
            : configuration.destinations.map { connection($0.name, $0.kind.word) }
    }

    /// Opens a source or a destination for some seconds.
    private func tried(_ kind: ConfigurationItem.Kind, _ request: Request) async throws -> ConnectionTrial {
        let settings = try await request.value(of: JSONValue.self)
        let (item, secrets) = try await changes.prepared(kind, settings, replacing: request.parameter("of"))
        var configuration = await gateway.configuration
        configuration.secretSources.stored = StoredSecrets(besideStore: configuration.outbox.path)
        configuration.secretSources.stored?.pending = secrets
        let (value, faults) = configuration.connection(kind, item.settings)
        guard faults.isEmpty else {
            throw Problem(
                .unprocessableContent, faults.map(\.message).joined(separator: "; "),
                errors: faults.map { .init(key: $0.key, detail: $0.message) })
        }
        let isFree = trials.withLock { count in
            guard count < Self.most else { return false }
            count += 1
            return true
        }
        guard isFree else { throw Problem(.tooManyRequests, "too many trials run; try again in a few seconds") }
        defer { trials.withLock { $0 -= 1 } }
        switch value {
        case .source(let source)?:
            return await ConnectionTrial(of: source, await diagnoses.findings()) { [isEnding] in
                isEnding.withLock { $0 }
            }
        case .destination(let destination)?: return await ConnectionTrial(of: destination, in: configuration)
        default: throw Problem(.unprocessableContent, "it cannot be used; check its keys")
        }
    }
}
