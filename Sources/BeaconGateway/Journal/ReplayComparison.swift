import BeaconModel

/// The difference of two playbacks of one stretch.
package struct ReplayComparison: Sendable {
    /// A difference.
    package enum Change: Sendable {
        case added(ReplayedEvent)
        case vanished(ReplayedEvent)
        /// An event that comes some seconds later, or earlier if they are negative.
        case shifted(ReplayedEvent, by: Double)
    }

    /// The most seconds by which an event moves. Further away, it counts as another one.
    static let reach = 300.0

    /// The differences, in the order of time.
    package private(set) var changes: [Change] = []

    /// Compares two playbacks. A rule that is withheld counts as one that does not run.
    package init(of before: [ReplayedEvent], with after: [ReplayedEvent]) {
        let (old, new) = (Self.groups(before), Self.groups(after))
        for key in Set(old.keys).union(new.keys) {
            let (left, right) = (old[key] ?? [], new[key] ?? [])
            var (first, second) = (0, 0)
            while first < left.count || second < right.count {
                guard first < left.count else {
                    changes.append(.added(right[second]))
                    second += 1
                    continue
                }
                guard second < right.count else {
                    changes.append(.vanished(left[first]))
                    first += 1
                    continue
                }
                let shift = right[second].seconds - left[first].seconds
                if abs(shift) > Self.reach {
                    if shift > 0 {
                        changes.append(.vanished(left[first]))
                        first += 1
                    } else {
                        changes.append(.added(right[second]))
                        second += 1
                    }
                    continue
                }
                if abs(shift) >= 0.001 { changes.append(.shifted(right[second], by: shift)) }
                (first, second) = (first + 1, second + 1)
            }
        }
        changes.sort { ($0.event.seconds, "\($0)") < ($1.event.seconds, "\($1)") }
    }

    private struct Key: Hashable {
        var subject: String
        var change: String
    }

    private static func groups(_ events: [ReplayedEvent]) -> [Key: [ReplayedEvent]] {
        Dictionary(grouping: events.filter { $0.run?.reason == nil }) { event in
            switch event {
            case .run(let run):
                Key(subject: "rule \(run.rule) \(run.person)", change: "\(run.cause) \(run.place ?? "")")
            case .event(.region(let event)):
                Key(subject: "\(event.name) \(event.constraint)", change: "\(event.kind) \(event.state)")
            case .event(.placed(let event)):
                Key(subject: "\(event.identity)", change: "\(event.state) \(event.place ?? "")")
            case .event(.suspected(let event)):
                Key(subject: "\(event.identity)", change: event.grounds.reason.rawValue)
            default: Key(subject: "", change: "")
            }
        }
    }
}

extension ReplayComparison.Change {
    /// The event.
    package var event: ReplayedEvent {
        switch self {
        case .added(let event), .vanished(let event), .shifted(let event, _): event
        }
    }
}
