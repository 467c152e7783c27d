import BeaconGateway
import BeaconModel
import BeaconSupport
import Foundation
import Hummingbird

/// The routes of the journal: a playback with the recorded settings or with others, and the trace of a beacon.
struct ReplayRoutes: Sendable {
    let gateway: Gateway

    /// A playback reads many megabytes, so one runs at a time.
    private let turn = AsyncMutex()

    /// The largest number of events and of differences in an answer.
    private static let most = 10_000

    /// The longest stretch in seconds.
    private static let longest = 31 * 86_400.0

    init(gateway: Gateway) { self.gateway = gateway }

    private struct Change: Encodable, Sendable {
        var change: String
        @Nullable var seconds: Double?
        var event: JSONValue
    }

    private struct Answer: Encodable, Sendable {
        @Nullable var kept: Replay.Stretch?
        var unsettled: [Replay.Stretch]
        var omitted: [String]
        var events: [JSONValue]
        var changes: [Change]
        var complete: Bool
    }

    func add(to router: RouterGroup<WebContext>) {
        router.on(.get, "replay") { request, _ in
            let stretch = try Self.stretch(of: request)
            let changes: ReplayChanges
            do {
                changes = try ReplayChanges(request.parameters("with"))
            } catch {
                throw Problem(.badRequest, "\(error)", key: "with", "\(error)")
            }
            return try await play { folder in
                let played = try Replay(folder: folder).play(stretch)
                var answer = Answer(
                    kept: Replay.reach(of: folder), unsettled: played.unsettled,
                    omitted: played.omitted, events: [], changes: [], complete: true)
                guard !changes.isEmpty else {
                    answer.events = played.events.prefix(Self.most).compactMap(\.json)
                    answer.complete = played.events.count <= Self.most
                    return answer
                }
                let other = try Replay(folder: folder, changes: changes).play(stretch)
                let comparison = ReplayComparison(of: played.events, with: other.events)
                answer.complete = comparison.changes.count <= Self.most
                answer.changes = comparison.changes.prefix(Self.most).compactMap { change in
                    guard let event = change.event.json else { return nil }
                    return switch change {
                    case .added: Change(change: "added", seconds: nil, event: event)
                    case .vanished: Change(change: "vanished", seconds: nil, event: event)
                    case .shifted(_, let seconds): Change(change: "shifted", seconds: seconds, event: event)
                    }
                }
                return answer
            }
        }
        router.on(.get, "trace") { request, _ in
            let stretch = try Self.stretch(of: request)
            let beacon = try Self.beacon(of: request)
            let steps = try request.number("steps", 1...2_000) ?? 300
            return try await play { try Replay(folder: $0).trace(beacon, stretch, steps: steps) }
        }
        router.on(.get, "trace/why") { request, _ in
            let (beacon, time) = (try Self.beacon(of: request), try Self.time("at", of: request))
            return try await play { try Replay(folder: $0).reason(for: beacon, at: time) }
        }
    }

    private static func beacon(of request: Request) throws -> BeaconIdentity {
        guard let constraint = request.parameter("beacon").flatMap({ BeaconConstraint($0) }),
            let major = constraint.major, let minor = constraint.minor
        else { throw Problem(.badRequest, key: "beacon", "must be a beacon as UUID/MAJOR/MINOR") }
        return BeaconIdentity(uuid: constraint.uuid, major: major, minor: minor)
    }

    private static func time(_ key: String, of request: Request) throws -> Double {
        guard let text = request.parameter(key), let number = Double(text), let time = Timestamp(since1970: number)
        else { throw Problem(.badRequest, key: key, "must be a time in seconds since 1970") }
        return time.seconds
    }

    /// Runs a playback of everything until now, beside the gateway.
    private func play<Answer: Sendable>(
        _ body: @escaping @Sendable (String) throws -> Answer
    ) async throws -> Answer {
        guard let folder = await gateway.journalFolder else {
            throw Problem(
                .conflict, "this beacond keeps no journal: its file has \"journal: false\", or it is part of a fleet")
        }
        await gateway.writeJournal()
        return try await turn.run {
            let task = Task.detached(priority: .background) { try body(folder) }
            do {
                return try await withTaskCancellationHandler {
                    try await task.value
                } onCancel: {
                    task.cancel()
                }
            } catch let failure as Replay.Failure {
                throw Problem(.notFound, "\(failure)")
            } catch let fault as ReplayChanges.Fault {
                throw Problem(.badRequest, "\(fault)", key: "with", "\(fault)")
            }
        }
    }

    private static func stretch(of request: Request) throws -> Replay.Stretch {
        let stretch = Replay.Stretch(from: try time("from", of: request), to: try time("to", of: request))
        guard stretch.from < stretch.to, stretch.to - stretch.from <= longest else {
            throw Problem(.badRequest, key: "from", "must be before \"to\", by 31 days at most")
        }
        return stretch
    }
}
