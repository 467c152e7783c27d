internal import BeaconService
import Foundation

/// Watches conditions and tells when they change.
///
/// The conditions of a name stay until they are removed, across launches of the application, together with the last event
/// of each. To go on with them, make a monitor of the same name and iterate over its ``events``.
///
/// Where Core Location's documents say nothing, or contradict one another, this was chosen:
/// - A second monitor of a name that is open shares what the first one has, instead of failing.
/// - Adding a condition again that is there already changes nothing; another one under its identifier begins anew.
/// - An application may monitor 20 conditions at once, counted by themselves and not together with the regions of
///   `CLLocationManager`. Those beyond are told to be, and are monitored as soon as others are removed.
/// - A condition is `unmonitored` where the application may not know of beacons, where the machine has no radio, where the
///   condition is of a kind that is not supported, and beyond the limit. While the radio is off it is `unknown`.
/// - While nobody iterates over the events, the newest of each condition waits.
///
/// Only conditions of beacons are supported, since no position is known here. Conditions that the application made itself
/// are not kept across launches.
public actor CLMonitor {
    private let tie: MonitorTie

    /// The events of the conditions, as they happen. Iterating never ends by itself, but with the task that does it.
    ///
    /// They may be had without waiting. If several iterate, each event goes to one of them.
    nonisolated final public let events: CLMonitor.Events

    /// Opens the monitor of a name, with the conditions that it had when it was last open.
    ///
    /// If they cannot be read, the monitor has none and keeps none, and its events say so by
    /// ``Event/persistenceUnavailable``.
    ///
    /// - Parameter name: letters and digits, by Apple's advice. Anything is accepted.
    public init(_ name: String) async {
        let center = BeaconCenter.current
        tie = MonitorTie(center: center, core: await center.monitorCore(name))
        events = Events(tie)
    }

    /// The names of the conditions, in the order in which they were added.
    public var identifiers: [String] { tie.core.identifiers }

    /// Begins to monitor a condition whose state is not known.
    ///
    /// - Parameters:
    ///   - condition: what to watch.
    ///   - identifier: its name; another condition of this name is replaced.
    public func add(_ condition: any CLCondition, identifier: String) {
        tie.add(condition, identifier, assuming: .unknown)
    }

    /// Begins to monitor a condition, assuming that its state is known.
    ///
    /// - Parameters:
    ///   - condition: what to watch.
    ///   - identifier: its name; another condition of this name is replaced.
    ///   - state: an event follows only where it turns out to be another.
    public func add(_ condition: any CLCondition, identifier: String, assuming state: CLMonitor.Event.State) {
        tie.add(condition, identifier, assuming: state)
    }

    /// Stops monitoring a condition and drops its record; harmless where there is none.
    public func remove(_ identifier: String) { tie.remove(identifier) }

    /// What is kept about a condition, as soon as it was added; nil where there is none.
    ///
    /// Its event is the last one that has been dealt with, which is when the next one is asked for.
    public func record(for identifier: String) -> CLMonitor.Record? { tie.core.record(for: identifier) }
}
