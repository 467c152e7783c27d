import BeaconSupport
import Logging
import ServiceLifecycle

/// A place for a service in a group. Another service can take it over while the group runs.
final class ServiceSlot: Service {
    private struct State {
        var service: (any Service)?
        var group: ServiceGroup?
    }

    private let state: Locked<State>
    private let changed = AsyncSignal()
    private let ended = AsyncSignal()
    private let logger: Logger

    /// The time after which an end is requested again that a service may have missed.
    private static let pause = Duration.milliseconds(100)

    /// A place with a service; nil for none so far.
    init(_ service: (any Service)?, logger: Logger) {
        state = Locked(State(service: service))
        self.logger = logger
    }

    /// Runs one service after another until the group shuts down.
    func run() async throws {
        while !Task.isShuttingDownGracefully, !Task.isCancelled {
            let seen = changed.count
            guard let service = state.withLock({ $0.service }) else {
                await cancelWhenGracefulShutdown { await self.changed.wait(after: seen) }
                continue
            }
            // The group's own log is of interest only from warnings on.
            var quiet = logger
            quiet.logLevel = max(logger.logLevel, .warning)
            let group = ServiceGroup(
                configuration: .init(
                    services: [.init(service: service, successTerminationBehavior: .gracefullyShutdownGroup)],
                    logger: quiet))
            state.withLock { $0.group = group }
            defer {
                state.withLock { $0.group = nil }
                ended.signal()
            }
            // A shutdown of the group around it shuts this one down too.
            try await group.run()
            // One that ended by itself leaves its place to the next.
            if changed.count == seen {
                state.withLock { $0.service = nil }
            }
        }
    }

    /// Ends the service in good order, and starts another one then.
    ///
    /// - Parameter service: the next one; nil for none.
    func replace(with service: (any Service)?) async {
        let seen = ended.count
        let group = state.withLock { state in
            state.service = service
            return state.group
        }
        changed.signal()
        guard let group else { return }
        let ended = ended
        while ended.count == seen, !Task.isCancelled {
            await group.triggerGracefulShutdown()
            await ended.wait(after: seen, atMost: Self.pause)
        }
    }
}
