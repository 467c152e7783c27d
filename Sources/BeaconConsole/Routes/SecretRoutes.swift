import BeaconConfiguration
import BeaconGateway
import BeaconSupport
import Foundation
import HTTPTypes
import Hummingbird
import Logging

/// The routes of the secrets that are set in the console. No answer contains a value.
struct SecretRoutes: Sendable {
    let gateway: Gateway
    let state: GatewayState
    let reload: @Sendable (GatewayConfiguration?) -> Void
    let logger: Logger

    private struct SecretValue: Encodable, Sendable {
        var name: String
        /// The time at which it was set.
        var time: Double
        /// Where it is used, in words.
        var uses: [String]
    }

    private struct SecretRequest: Decodable, Sendable {
        var value: String
    }

    func add(to router: RouterGroup<WebContext>) {
        router.on(.get, "secrets") { _, _ in ["secrets": await values()] }
        router.on(.put, "secrets/{name}") { request, context in
            let name = try context.name("name")
            let text = try await request.value(of: SecretRequest.self).value.trimmingCharacters(in: .newlines)
            guard StoredSecrets.isName(name) else {
                throw Problem(.unprocessableContent, key: "name", "must have \(StoredSecrets.nameForm)")
            }
            guard !text.isEmpty, text.utf8.count <= StoredSecrets.largest, !text.unicodeScalars.contains("\0") else {
                throw Problem(
                    .unprocessableContent, key: "value",
                    "must be a text of 1 to \(StoredSecrets.largest) bytes without NUL characters")
            }
            try await state.items.turn.run {
                do throws(StateError) {
                    try await stored().set(name, to: Secret(text))
                } catch {
                    throw Problem(.conflict, error.message)
                }
            }
            logger.notice("the secret \(name) was set in the console")
            let value = await values().first { $0.name == name }
            guard let value else { throw Problem(.notFound, "another request has removed it") }
            // Connections with the former value end, and new ones begin.
            if !value.uses.isEmpty { reload(nil) }
            return value
        }
        router.on(.delete, "secrets/{name}") { _, context in
            let name = try context.name("name")
            try await state.items.turn.run {
                let stored = await stored()
                guard StoredSecrets.isName(name), stored.has(name) else {
                    throw Problem(.notFound, "there is no secret of this name")
                }
                let uses = await uses(of: name)
                guard uses.isEmpty else {
                    throw Problem(.conflict, "the secret is used by \(uses.joined(separator: ", ")); change that first")
                }
                do throws(StateError) {
                    try stored.remove(name)
                } catch {
                    throw Problem(.conflict, error.message)
                }
            }
            logger.notice("the secret \(name) was removed in the console")
            return Nothing()
        }
    }

    private func stored() async -> StoredSecrets { StoredSecrets(besideStore: await gateway.base.outbox.path) }

    private func uses(of name: String) async -> [String] { await gateway.configuration.uses(ofSecret: name) }

    private func values() async -> [SecretValue] {
        let configuration = await gateway.configuration
        return await stored().all.map {
            SecretValue(
                name: $0.name, time: $0.time.timeIntervalSince1970, uses: configuration.uses(ofSecret: $0.name))
        }
    }
}
