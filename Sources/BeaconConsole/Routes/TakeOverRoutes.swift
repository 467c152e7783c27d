import BeaconGateway
import Foundation
import HTTPTypes
import Hummingbird
import Logging

/// The route that moves items of the configuration file to the console.
struct TakeOverRoutes: Sendable {
    let changes: ItemChanges
    let current: CurrentConfiguration
    let logger: Logger

    private struct Wanted: Decodable, Sendable {
        var kind: String
        var name: String?
    }

    private struct Taken: Encodable, Sendable {
        /// The names of the items.
        var names: [String]
        /// The path of the configuration file.
        var path: String
        /// The path of the copy of the file from before.
        var copy: String
    }

    func add(to router: RouterGroup<WebContext>) {
        router.on(.post, "items/take-over") { request, _ in
            let wanted = try await request.value(of: Wanted.self)
            guard let kind = ConfigurationItem.Kind(rawValue: wanted.kind), kind.isInFile else {
                let kinds = ConfigurationItem.Kind.allCases.filter(\.isInFile).map(\.rawValue).joined(separator: ", ")
                throw Problem(.unprocessableContent, key: "kind", "must be one of \(kinds)")
            }
            let (move, copy) = try await changes.takeOver(kind, wanted.name, from: current)
            let names = move.items.map(\.name)
            let what = names.count == 1 ? "the \(kind.rawValue) \(names[0])" : "\(names.count) \(kind.rawValue)s"
            logger.notice("the console took over \(what) from \(move.path); the file from before is \(copy)")
            return Taken(names: names, path: move.path, copy: copy)
        }
    }
}
