import BeaconDelivery
import BeaconGateway
import BeaconSimulation
import BeaconSupport
import CLibrary
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore

/// The route that predicts how well the rooms of a plan will be recognized.
struct ForecastRoutes: Sendable {
    let gateway: Gateway
    let state: GatewayState
    private let work = ForecastWork()

    init(gateway: Gateway, state: GatewayState) {
        self.gateway = gateway
        self.state = state
    }

    private struct Wanted: Decodable, Sendable {
        /// The plan; nil for the stored one.
        var plan: BuildingPlan?
        /// The position of one receiver more to try.
        var receiver: [Double]?

        private enum CodingKeys: CodingKey { case plan, receiver }

        init(from decoder: any Decoder) throws {
            let values = try decoder.container(keyedBy: CodingKeys.self)
            // Not `decodeIfPresent`, which takes null.
            if values.contains(.plan) { plan = try values.decode(BuildingPlan.self, forKey: .plan) }
            if values.contains(.receiver) { receiver = try values.decode([Double].self, forKey: .receiver) }
        }
    }

    private struct Answer: Encodable, Sendable {
        @Nullable var forecast: RoomForecast?
        @Nullable var tried: String?
        @Nullable var change: RoomForecast.Change?
    }

    func add(to router: RouterGroup<WebContext>) {
        router.respond(.post, "plan/forecast") { request, _ in
            let wanted = try await request.value(of: Wanted.self)
            let stored = try await state.buildingPlan()
            let plan = wanted.plan ?? stored
            if let (key, what) = plan.mistake { throw Problem(.unprocessableContent, key: key, what) }
            if let spot = wanted.receiver, !(2...3 ~= spot.count && spot.allSatisfy { abs($0) <= 10_000 }) {
                throw Problem(.unprocessableContent, key: "receiver", "is a position [x, y] or [x, y, z] in meters")
            }
            let tried = wanted.receiver.map {
                RoomSurvey.Receiver(name: "one more", position: BuildingPlan.position($0))
            }
            do {
                let survey = try plan.survey(places: await gateway.placesValue)
                if let tried { _ = try survey.adding(tried) }
                guard let steps = work.start(survey, trying: tried) else {
                    throw Problem(.tooManyRequests, "another prediction is running; try again in a few seconds")
                }
                return Self.response(steps)
            } catch let error as ScenarioError {
                throw Self.problem(error)
            }
        }
    }

    /// Returns an answer that begins at once with white space, which JSON allows: so the work ends when the client
    /// leaves.
    private static func response(_ steps: AsyncStream<ForecastWork.Step>) -> Response {
        Response(
            status: .ok, headers: [.contentType: "application/json", .cacheControl: "no-store"],
            body: .init { writer in
                var own = writer
                for await step in steps {
                    switch step {
                    case .working: try await own.write(ByteBuffer(string: "\n"))
                    case .done(let report):
                        let answer = Answer(forecast: report?.forecast, tried: report?.tried, change: report?.change)
                        try await own.write(ByteBuffer(bytes: try JSONEncoder.sorted.encode(answer)))
                    }
                }
                try await own.finish(nil)
            })
    }

    /// Returns the problem of a plan in the words of the editor.
    private static func problem(_ error: ScenarioError) -> Problem {
        let kind = error.path.prefix { $0.isLetter || $0 == " " }
        let number = Int(error.path.drop { $0 != "[" }.dropFirst().prefix { $0 != "]" })
        let subject =
            switch (kind, number) {
            case ("rooms", _?): "The room"
            case ("receivers", _?): "The receiver"
            case ("the receiver", _): "The receiver"
            case ("doors", let number?): "Door \(number + 1)"
            case (let kind, _): "The plan: \(kind)"
            }
        return Problem(
            .unprocessableContent, "\(subject) \(error.message)".printable, key: error.path, error.message)
    }
}

/// Predictions on a thread of low priority, one at a time.
final class ForecastWork: Sendable {
    enum Step: Sendable {
        /// It is still working; sent twice a second.
        case working
        /// The prediction; nil if it took too long.
        case done(RoomReport?)
    }

    /// The longest time of a prediction.
    private static let patience = Duration.seconds(60)

    private let isBusy = Locked(false)

    /// Starts a prediction of a survey that can be tried.
    ///
    /// - Returns: its steps, or nil if another one is running. The prediction ends when its steps are no longer read.
    func start(_ survey: RoomSurvey, trying receiver: RoomSurvey.Receiver?) -> AsyncStream<Step>? {
        let wasBusy = isBusy.withLock { isBusy in
            defer { isBusy = true }
            return isBusy
        }
        guard !wasBusy else { return nil }
        let isUnread = Locked(false)
        let (steps, continuation) = AsyncStream<Step>.makeStream()
        continuation.onTermination = { _ in isUnread.withLock { $0 = true } }
        let hasStarted = SignalFreeThread.start { [self] in
            // On Linux, this is the priority of the thread alone. The radio and the events come first.
            _ = nice(10)
            let start = ContinuousClock.now
            var told = start
            let report = try? RoomReport.make(survey, seeds: RoomReport.usualSeeds, trying: receiver) {
                let now = ContinuousClock.now
                if now - told >= .milliseconds(500) {
                    told = now
                    continuation.yield(.working)
                }
                return now - start > Self.patience || isUnread.withLock { $0 }
            }
            isBusy.withLock { $0 = false }
            continuation.yield(.done(report))
            continuation.finish()
        }
        guard hasStarted else {
            isBusy.withLock { $0 = false }
            return nil
        }
        return steps
    }
}
