internal import BeaconMonitoring
import Foundation

/// A monitor of conditions, which delivers an event when one changes.
///
/// The conditions of a name stay until they are removed, across launches of the application, together with the last
/// event of each. To go on with them, make a monitor of the same name and iterate over its ``events``.
///
/// Where Core Location's documents say nothing, or contradict one another, this was chosen:
/// - A second monitor of a name that is open shares what the first one has, instead of failing.
/// - Adding a condition again that is there already changes nothing; another one under its identifier begins anew.
/// - An application may monitor 20 conditions at once, counted by themselves and not together with the regions of
///   `CLLocationManager`. Those beyond are reported as such, and are monitored as soon as others are removed.
/// - A condition is `unmonitored` where the application may not know of beacons, where the machine has no radio, where
/// the condition is of a kind that is not supported, and beyond the limit. While the radio is off it is `unknown`.
/// - While no task iterates over the events, the newest of each condition waits.
///
/// Only conditions of beacons are supported, since no position is known here. Conditions that the application made
/// itself are not kept across launches.
public actor CLMonitor {
    private let monitor: BoundMonitor

    /// The events of the conditions, as they happen. Iterating never ends by itself, but with the task that does it.
    ///
    /// If several iterate, each event goes to one of them.
    final public let events: CLMonitor.Events

    /// Opens the monitor of a name, with the conditions that it had when it was last open.
    ///
    /// If they cannot be read, the monitor has none and keeps none, and its events say so by
    /// ``Event/persistenceUnavailable``.
    ///
    /// - Parameter name: letters and digits, by Apple's advice. Anything is accepted.
    public init(_ name: String) async {
        let center = BeaconCenter.current
        monitor = BoundMonitor(center: center, core: center.monitorCore(name))
        events = Events(monitor)
    }

    /// The names of the conditions, in the order in which they were added.
    public var identifiers: [String] { monitor.core.identifiers }

    /// Begins to monitor a condition whose state is not known.
    ///
    /// - Parameters:
    ///   - condition: the condition.
    ///   - identifier: its name; another condition of this name is replaced.
    public func add(_ condition: any CLCondition, identifier: String) {
        monitor.add(condition, identifier: identifier, assuming: .unknown)
    }

    /// Begins to monitor a condition, assuming that its state is known.
    ///
    /// - Parameters:
    ///   - condition: the condition.
    ///   - identifier: its name; another condition of this name is replaced.
    ///   - state: an event follows only where it turns out to be another.
    public func add(_ condition: any CLCondition, identifier: String, assuming state: CLMonitor.Event.State) {
        monitor.add(condition, identifier: identifier, assuming: state)
    }

    /// Stops monitoring a condition and drops its record; harmless where there is none.
    public func remove(_ identifier: String) { monitor.remove(identifier) }

    /// Returns the record of a condition, as soon as it was added; nil where there is none.
    ///
    /// Its event is the last one that has been dealt with, which is when the next one is asked for.
    public func record(for identifier: String) -> CLMonitor.Record? { monitor.core.record(for: identifier) }
}

extension CLMonitor {
    /// The events of a monitor.
    public struct Events: AsyncSequence, Sendable {
        /// The elements.
        public typealias Element = CLMonitor.Event

        private let monitor: BoundMonitor

        init(_ monitor: BoundMonitor) { self.monitor = monitor }

        /// An iterator that delivers one event after another.
        ///
        /// An event has been dealt with when the next one is asked for, or when the iterator is released.
        public struct Iterator: AsyncIteratorProtocol {
            private let reader: MonitorReader

            init(_ monitor: BoundMonitor) { reader = MonitorReader(monitor) }

            /// Returns the next event, as soon as there is one; nil once the task is cancelled. Nothing is thrown at
            /// present.
            public mutating func next() async throws -> CLMonitor.Events.Element? {
                await reader.next(isolation: nil)
            }

            /// Returns the next event as ``next()`` does, to the actor that iterates.
            public mutating func next(
                isolation actor: isolated (any Actor)?
            ) async throws(any Error) -> CLMonitor.Events.Element? {
                await reader.next(isolation: actor)
            }
        }

        /// Returns an iterator, which begins to wait for events.
        public func makeAsyncIterator() -> Iterator { Iterator(monitor) }
    }
}

extension CLMonitor {
    /// A condition with the last event that was dealt with.
    public struct Record: Sendable {
        /// The last event that the app has dealt with. While it deals with one, the record still has the one before.
        public let lastEvent: CLMonitor.Event

        /// The condition.
        public let condition: any CLCondition

        /// Creates a record from its parts.
        init(lastEvent: CLMonitor.Event, condition: any CLCondition) {
            self.lastEvent = lastEvent
            self.condition = condition
        }
    }
}
