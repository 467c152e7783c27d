import BeaconDelivery
import BeaconGateway
import BeaconModel
import BeaconSupport
import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOCore

/// The routes that teach places.
struct TeachingRoutes: Sendable {
    let gateway: Gateway
    let changes: ItemChanges
    let logger: Logger

    private struct Wanted: Decodable, Sendable {
        var place: String
        var beacon: TeachingValue.Beacon
    }

    func add(to router: RouterGroup<WebContext>) {
        router.on(.post, "teaching", status: .created) { request, _ in
            let wanted = try await request.value(of: Wanted.self)
            try ItemChanges.check(wanted.place, of: "place", key: "place")
            guard let uuid = ProximityUUID(wanted.beacon.uuid), let major = UInt16(exactly: wanted.beacon.major),
                let minor = UInt16(exactly: wanted.beacon.minor)
            else {
                throw Problem(
                    .unprocessableContent, key: "beacon", "must have a uuid, a major and a minor (0 to 65535)")
            }
            let beacon = BeaconIdentity(uuid: uuid, major: major, minor: minor)
            return try await reportingFailures { try await gateway.teach(wanted.place, with: beacon) }
        }
        router.respond(.get, "teaching/stream") { request, _ in
            guard request.method != .head else { return EventStreamResponse.response { _ in } }
            guard let values = await gateway.watchTeaching() else { throw Self.problem(.notRunning) }
            return EventStreamResponse.response(
                values.map { value in
                    guard let value else { return EventStreamResponse.comment }
                    return EventStreamResponse.text(
                        "teaching", data: (try? JSONEncoder.sorted.encode(value)) ?? Data("{}".utf8))
                })
        }
        router.on(.post, "teaching/keep") { _, _ in
            let kept = try await reportingFailures { try await gateway.keptTeaching() }
            do {
                try await changes.make(kept)
            } catch {
                await gateway.continueTeaching()
                throw error
            }
            await gateway.endTeaching()
            let value = await gateway.taughtValue
            logger.notice("the console keeps what was taught; places use it from now on")
            return value
        }
        router.on(.delete, "teaching") { _, _ in
            guard await gateway.endTeaching() else { throw Self.problem(.notRunning) }
            return Nothing()
        }
        router.on(.get, "taught") { _, _ in await gateway.taughtValue }
        router.on(.post, "taught/undo") { _, _ in
            try await changes.make(try await reportingFailures { try await gateway.undoneTeaching() })
            return await gateway.taughtValue
        }
        router.on(.delete, "taught/{name}") { _, context in
            try await changes.make(.remove(.taught, try context.name("name")))
            return Nothing()
        }
    }

    private func reportingFailures<Value>(_ action: () async throws -> Value) async throws -> Value {
        do {
            return try await action()
        } catch let failure as Gateway.TeachingFailure {
            throw Self.problem(failure)
        }
    }

    private static func problem(_ failure: Gateway.TeachingFailure) -> Problem {
        switch failure {
        case .busy(let place):
            Problem(.conflict, "\(place.printable) is being taught already; keep it or throw it away first")
        case .badName(let fault): Problem(.unprocessableContent, key: "place", fault)
        case .inFleet:
            Problem(.conflict, "in a fleet, use 'beacon teach' and the key \"taught-places\" of each machine")
        case .tooManyClients:
            Problem(.tooManyRequests, "too many clients are ranging beacons; close another window")
        case .noPoints: Problem(.conflict, "the beacon was not heard yet, so there is nothing to keep")
        case .notRunning: Problem(.notFound, "no place is being taught; it may have ended because no page watched it")
        case .nothingKept: Problem(.notFound, "no teaching of the console is left to undo")
        }
    }
}
