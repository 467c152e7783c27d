internal import BeaconMonitoring
import Foundation

/// A monitor of conditions, which delivers an event when one changes.
///
/// The conditions of a named monitor and their last events are kept until they are removed, even across launches of the
/// application. To continue with them, create a monitor with the same name and iterate over its ``events``.
///
/// Where Core Location's documentation is silent or contradicts itself, this implementation does the following:
/// - A second monitor with the name of an open one shares its conditions, which is logged. iOS ends the app, and so
///   does the strict mode.
/// - Adding an equal condition again changes nothing. A different condition with the same identifier replaces it.
/// - An application may monitor 20 conditions at once, in addition to the regions of `CLLocationManager`. Further
///   conditions are reported as such, and are monitored once others are removed.
/// - A condition is `unmonitored` if the application is not authorized, if the machine has no radio, if the condition's
///   type is not supported, or if it is beyond the limit. While the radio is off, it is `unknown`.
/// - While no task iterates over the events, the newest event of each condition is kept.
///
/// Only beacon conditions are supported, since positions are not available here. Custom condition types of the
/// application are not kept across launches.
public actor CLMonitor {
    private let monitor: BoundMonitor
    private let opening: MonitorCore.Opening

    /// The events of the conditions. The sequence does not end by itself, only with the iterating task.
    ///
    /// If several tasks iterate, each event is delivered to one of them.
    final public let events: CLMonitor.Events

    /// Opens a named monitor with the conditions that it had when it was last open.
    ///
    /// If the conditions cannot be read, the monitor starts empty and does not save any. Its events report that with
    /// ``Event/persistenceUnavailable``.
    ///
    /// - Parameter name: its name, of ASCII letters and digits. Any other name is accepted and logged. iOS ends the
    ///   app, and so does the strict mode.
    public init(_ name: String) async {
        let center = BeaconCenter.forNew("a CLMonitor")
        monitor = BoundMonitor(center: center, core: center.monitorCore(name))
        opening = monitor.core.open(in: center)
        events = Events(monitor)
    }

    /// The identifiers of the conditions, in the order in which they were added.
    public var identifiers: [String] { monitor.core.identifiers }

    /// Starts to monitor a condition whose state is unknown.
    ///
    /// - Parameters:
    ///   - condition: the condition.
    ///   - identifier: its identifier; another condition with the identifier is replaced.
    public func add(_ condition: any CLCondition, identifier: String) {
        monitor.add(condition, identifier: identifier, assuming: .unknown)
    }

    /// Starts to monitor a condition with an assumed state.
    ///
    /// - Parameters:
    ///   - condition: the condition.
    ///   - identifier: its identifier; another condition with the identifier is replaced.
    ///   - state: the assumed state. An event follows only if the state turns out to be different.
    public func add(_ condition: any CLCondition, identifier: String, assuming state: CLMonitor.Event.State) {
        monitor.add(condition, identifier: identifier, assuming: state)
    }

    /// Stops monitoring a condition and removes its record. Harmless if the condition does not exist.
    public func remove(_ identifier: String) { monitor.remove(identifier) }

    /// Returns the record of a condition, or nil. The record exists as soon as the condition is added.
    ///
    /// It contains the last event that was handled. An event counts as handled when the task requests the next one.
    public func record(for identifier: String) -> CLMonitor.Record? { monitor.core.record(for: identifier) }
}

extension CLMonitor {
    /// The events of a monitor.
    public struct Events: AsyncSequence, Sendable {
        /// The type of the elements.
        public typealias Element = CLMonitor.Event

        private let monitor: BoundMonitor

        init(_ monitor: BoundMonitor) { self.monitor = monitor }

        /// An iterator over the events.
        ///
        /// An event counts as handled when the next one is requested, or when the iterator is released.
        public struct Iterator: AsyncIteratorProtocol {
            private let reader: MonitorReader

            init(_ monitor: BoundMonitor) { reader = MonitorReader(monitor) }

            /// Returns the next event once it happens; nil once the task is cancelled. Throws nothing at present.
            public mutating func next() async throws -> CLMonitor.Events.Element? {
                await reader.next(isolation: nil)
            }

            /// Returns the next event like ``next()``, on the iterating actor.
            public mutating func next(
                isolation actor: isolated (any Actor)?
            ) async throws(any Error) -> CLMonitor.Events.Element? {
                await reader.next(isolation: actor)
            }
        }

        /// Returns an iterator, which starts to wait for events.
        public func makeAsyncIterator() -> Iterator { Iterator(monitor) }
    }
}

extension CLMonitor {
    /// A condition and its last handled event.
    public struct Record: Sendable {
        /// The last event that the app has handled. While the app handles an event, the record still has the previous
        /// one.
        public let lastEvent: CLMonitor.Event

        /// The condition.
        public let condition: any CLCondition
    }
}
