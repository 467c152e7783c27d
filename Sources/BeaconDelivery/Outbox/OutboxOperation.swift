/// A change of the outbox.
enum OutboxOperation: Sendable {
    case append([EncodedAppending])
    case resolve(QueueResolution, String)

    /// Whether someone relies on its being on the disk. What was refused has left the destination's sight for good; what was
    /// delivered would only be delivered again.
    var hasToBeSynced: Bool {
        switch self {
        case .append: true
        case .resolve(let resolution, _): !resolution.refused.isEmpty
        }
    }

    static func unknown(_ destination: String) -> OutboxError {
        OutboxError(.unknownDestination, "the outbox has no queue for \(destination)")
    }

    func perform(
        on tables: OutboxTables, _ numbers: [String: Int64], _ limits: OutboxLimits, addedAt: Int64,
        _ effects: inout OutboxEffects
    ) throws {
        switch self {
        case .append(let appendings):
            var concerned: [String: Int64] = [:]
            for appending in appendings {
                var queues: [Int64] = []
                for destination in appending.destinations {
                    guard let number = numbers[destination] else { throw Self.unknown(destination) }
                    queues.append(number)
                    concerned[destination] = number
                    effects.appended[destination, default: 0] += 1
                }
                try tables.append(appending.notification, to: queues, addedAt: addedAt)
            }
            for (destination, number) in concerned {
                let dropped = try tables.bound(number, limits)
                if dropped > 0 { effects.dropped[destination, default: 0] += dropped }
            }
        case .resolve(let resolution, let destination):
            guard let number = numbers[destination] else { throw Self.unknown(destination) }
            try tables.resolve(resolution, of: number, limits: limits)
            effects.resolved.append((destination, resolution))
        }
    }
}
