import BeaconDelivery
import BeaconGateway
import BeaconModel
import BeaconSupport
import Foundation
import HTTPTypes
import Hummingbird

/// The routes of apps, their installs and users, and messages to them.
struct PeopleRoutes: Sendable {
    let state: GatewayState
    let current: CurrentConfiguration

    /// The largest number of installs in one answer.
    private static let maximumInstalls = 1_000

    private struct AppValue: Encodable, Sendable {
        var name: String
        var key: String
        var origin: String
        var installs: Int
    }

    private struct NewApp: Encodable, Sendable {
        var name: String
        var key: String
        var secret: String
    }

    private struct AppRequest: Decodable, Sendable {
        var name: String
    }

    private struct InstallValue: Encodable, Sendable {
        var id: String
        var app: String
        @Nullable var user: String?
        var attributes: [String: String]
        var firstSeen: Double
        var lastSeen: Double
        var events: Int
        var waiting: Int

        init(_ install: Install) {
            (id, app, user, attributes) = (install.id, install.app, install.user, install.attributes)
            (firstSeen, lastSeen) = (install.first.seconds, install.last.seconds)
            (events, waiting) = (install.events, install.waiting)
        }
    }

    private struct MessageValue: Encodable, Sendable {
        var id: String
        var time: Double
        @Nullable var title: String?
        var text: String
        @Nullable var url: String?
        @Nullable var rule: String?
        var state: String
        @Nullable var taken: Double?
        @Nullable var delivered: Double?
        @Nullable var opened: Double?
        @Nullable var dismissed: Double?
        /// Its id in Kumulos' own SDK, and in the events of that SDK about it.
        var number: Int

        init(_ message: InstallMessage) {
            id = message.id
            time = message.time.seconds
            title = message.content.title
            text = message.content.text
            url = message.content.url
            rule = message.rule
            number = message.number
            let receipts = message.receipts
            let times = [
                ("dismissed", receipts?.dismissed), ("opened", receipts?.opened), ("taken", message.taken),
                ("delivered", receipts?.delivered.values.min()),
            ]
            state = times.first { $0.1 != nil }?.0 ?? "waiting"
            dismissed = times[0].1?.seconds
            opened = times[1].1?.seconds
            taken = times[2].1?.seconds
            delivered = times[3].1?.seconds
        }
    }

    private struct MessageRequest: Decodable, Sendable {
        var title: String?
        var text: String
        var url: String?
    }

    func add(to router: RouterGroup<WebContext>) {
        addApps(to: router)
        router.on(.get, "installs") { _, _ in
            ["installs": try await state.people.installs(limit: Self.maximumInstalls).map(InstallValue.init)]
        }
        router.on(.get, "installs/{id}") { _, context in
            guard let install = try await state.people.install(try context.name("id")) else { throw Self.noInstall }
            return InstallValue(install)
        }
        router.on(.delete, "installs/{id}") { _, context in
            guard try await state.people.forget(install: try context.name("id")) else { throw Self.noInstall }
            return Nothing()
        }
        router.on(.get, "installs/{id}/messages") { _, context in
            let id = try context.name("id")
            guard try await state.people.installs([id])[id] != nil else { throw Self.noInstall }
            let messages = try await state.people.messages(of: id, isWaiting: false, limit: 200)
            return ["messages": messages.map(MessageValue.init)]
        }
        router.on(.post, "installs/{id}/messages", status: .created) { request, context in
            let id = try context.name("id")
            let wanted = try await request.value(of: MessageRequest.self)
            // SQLite ends text at a NUL.
            let texts = [wanted.title ?? "", wanted.text, wanted.url ?? ""]
            guard !texts.contains(where: { $0.unicodeScalars.contains("\0") }) else {
                throw Problem(
                    .unprocessableContent, "a text contains the NUL character", key: "text",
                    "contains the NUL character")
            }
            guard !wanted.text.isEmpty, wanted.text.count <= RuleMessage.longest else {
                throw Problem(
                    .unprocessableContent, key: "text", "must be a text of 1 to \(RuleMessage.longest) characters")
            }
            guard wanted.title?.count ?? 0 <= 200, wanted.url?.count ?? 0 <= 2_000 else {
                throw Problem(.unprocessableContent, "a title can have at most 200 characters, an address at most 2000")
            }
            guard let install = try await state.people.installs([id])[id] else { throw Self.noInstall }
            let message = InstallMessage(
                id: UUID().uuidString.lowercased(), install: id, user: install.user,
                time: Timestamp(seconds: Date().timeIntervalSince1970) ?? .zero,
                content: RuleMessage(title: wanted.title, text: wanted.text, url: wanted.url))
            try await state.people.add(message)
            return MessageValue(message)
        }
    }

    private static var noInstall: Problem { Problem(.notFound, "unknown install") }

    private func addApps(to router: RouterGroup<WebContext>) {
        router.on(.get, "apps") { _, _ in
            let known = try await state.people.installCounts()
            func counts(_ app: String) -> Int { known[GatewayState.part(app)] ?? 0 }
            let ofFile = current.value.intake.apps.map {
                AppValue(name: $0.name, key: $0.apiKey.reveal(), origin: "file", installs: counts($0.name))
            }
            let ofConsole = try await state.access.apps().map {
                AppValue(name: $0.name, key: $0.key, origin: "console", installs: counts($0.name))
            }
            return ["apps": ofFile + ofConsole]
        }
        router.on(.post, "apps", status: .created) { request, _ in
            let name = try await request.value(of: AppRequest.self).name
            try ItemChanges.check(name, of: "app")
            let (key, secret) = (UUID().uuidString.lowercased(), AccessToken())
            let intake = current.value.intake
            let isTaken = intake.apps.contains { $0.name == name } || intake.webhooks.contains { $0.name == name }
            guard !isTaken, try await state.access.add(RegisteredApp(name: name, key: key, secretHash: secret.hash))
            else {
                throw Problem(
                    .conflict,
                    "another sender has this name, or there are already \(ConsoleAccess.maximumApps) apps; choose another name, or remove an app",
                    key: "name", "is the name of another sender")
            }
            return NewApp(name: name, key: key, secret: secret.text)
        }
        router.on(.delete, "apps/{name}") { _, context in
            let name = try context.name("name")
            if current.value.intake.apps.contains(where: { $0.name == name }) {
                throw Problem(.conflict, "this app is in the file; remove it there")
            }
            guard try await state.access.remove(app: name) else {
                throw Problem(.notFound, "unknown app")
            }
            return Nothing()
        }
    }
}
