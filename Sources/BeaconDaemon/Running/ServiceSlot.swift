import BeaconSupport
import Logging
import ServiceLifecycle

/// A slot for a service in a group. Another service can replace it while the group runs.
final class ServiceSlot: Service {
    private struct State {
        var service: (any Service)?
        var group: ServiceGroup?
    }

    private let state: Locked<State>
    private let changed = AsyncSignal()
    private let ended = AsyncSignal()
    private let logger: Logger

    /// How long to wait before repeating a request to end, which a service may have missed.
    private static let pause = Duration.milliseconds(100)

    /// Creates a slot with a service; nil for an empty slot.
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
            // Only warnings and errors of the group's own log are of interest.
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
            // A shutdown of the outer group shuts this one down too.
            try await group.run()
            // A service that ended by itself leaves the slot empty.
            if changed.count == seen {
                state.withLock { $0.service = nil }
            }
        }
    }

    /// Ends the service cleanly, and then starts another one.
    ///
    /// - Parameter service: the next service; nil for none.
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
