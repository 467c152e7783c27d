package import BeaconModel
package import BeaconSupport
import Foundation

/// A region or monitor condition for which beacond starts an application.
package struct LaunchTrigger: Hashable, Sendable {
    /// The identifier of a region or condition within its application.
    package struct ID: Hashable, Sendable, CustomStringConvertible {
        /// The monitor that has the condition; nil for a region.
        package var monitor: String?
        /// The identifier of the region or condition.
        package var identifier: String

        /// Creates the identifier of a region or, with a monitor, of a condition.
        package init(_ identifier: String, monitor: String? = nil) {
            self.identifier = identifier
            self.monitor = monitor
        }

        /// A text that is unique within the application. For a region, it is the region's identifier.
        package var description: String {
            monitor.map { "\(identifier) of the monitor \($0)" } ?? identifier
        }
    }

    /// Its identifier.
    package var id: ID
    /// The beacons of the region or condition.
    package var constraint: BeaconConstraint
    /// The last state that the application knows, or will know once its missed events are delivered.
    package var state: RegionState
    /// A Boolean value indicating whether beacond starts the application on entry.
    package var notifiesOnEntry: Bool
    /// A Boolean value indicating whether beacond starts the application on exit.
    package var notifiesOnExit: Bool

    /// Creates a trigger.
    package init(
        id: ID, constraint: BeaconConstraint, state: RegionState, notifiesOnEntry: Bool = true,
        notifiesOnExit: Bool = true
    ) {
        self.id = id
        self.constraint = constraint
        self.state = state
        self.notifiesOnEntry = notifiesOnEntry
        self.notifiesOnExit = notifiesOnExit
    }

    /// Returns true if a change of the state starts the application.
    ///
    /// A change from unknown to outside is not an exit.
    package func launches(from before: RegionState, to after: RegionState) -> Bool {
        switch after {
        case .inside: notifiesOnEntry && before != .inside
        case .outside: notifiesOnExit && before == .inside
        case .unknown: false
        }
    }
}

extension StateDirectory {
    /// The maximum number of missed events per application. If there are more, the oldest are dropped.
    package static let maximumPendingEvents = 100

    // MARK: - Registration

    /// Returns an application's registered launch, or nil.
    ///
    /// - Throws: ``StateError`` if it cannot be read.
    package func launch(of application: ApplicationIdentity) throws(StateError) -> ApplicationLaunch? {
        try state(ApplicationLaunch.self, in: file("launch", of: application), of: application).value
    }

    /// Registers an application's launch.
    func register(_ launch: ApplicationLaunch, for application: ApplicationIdentity) throws(StateError) {
        let lock = try lock(application)
        defer { withExtendedLifetime(lock) {} }
        let file = file("launch", of: application)
        let stored = try state(ApplicationLaunch.self, in: file, of: application, isLocked: true).value
        if stored != launch { try write(launch, to: file) }
    }

    /// Removes an application's registration. With `onlyIfUnused`, it stays while regions or conditions are stored.
    func unregister(_ application: ApplicationIdentity, onlyIfUnused: Bool = false) throws(StateError) {
        let file = file("launch", of: application)
        guard FileManager.default.fileExists(atPath: file.path) else { return }
        if onlyIfUnused, try !triggers(of: application).isEmpty { return }
        let lock = try lock(application)
        defer { withExtendedLifetime(lock) {} }
        try remove(file)
    }

    // MARK: - Triggers

    /// Returns the regions and monitor conditions for which beacond starts an application. Their states include the
    /// missed events.
    ///
    /// - Throws: ``StateError`` if they cannot be read.
    package func triggers(of application: ApplicationIdentity) throws(StateError) -> [LaunchTrigger] {
        var triggers = try regions(of: application).map { region in
            LaunchTrigger(
                id: .init(region.identifier), constraint: region.constraint, state: region.state,
                notifiesOnEntry: region.notifiesOnEntry, notifiesOnExit: region.notifiesOnExit)
        }
        let monitors = FileMonitorStore(application, in: self)
        for name in monitors.names {
            for condition in try monitors.load(name) {
                guard let constraint = condition.constraint else { continue }
                triggers.append(
                    LaunchTrigger(
                        id: .init(condition.identifier, monitor: name), constraint: constraint, state: condition.state))
            }
        }
        return triggers
    }

    private func regions(of application: ApplicationIdentity) throws(StateError) -> [RegisteredRegion] {
        var regions = try FileRegionStore(application, in: self).load()
        for event in try pendingEvents(of: application) { event.apply(to: &regions) }
        return regions
    }

    // MARK: - Events of applications that do not run

    /// Returns true if an application runs.
    ///
    /// - Throws: ``StateError`` if its lock cannot be read.
    package func isRunning(_ application: ApplicationIdentity) throws(StateError) -> Bool {
        try FileLock(alone: runningMark(of: application).path) == nil
    }

    /// Returns the region events that an application missed since it last ran, oldest first.
    ///
    /// - Throws: ``StateError`` if they cannot be read.
    package func pendingEvents(of application: ApplicationIdentity) throws(StateError) -> [PendingRegionEvent] {
        try pendingFile(of: application).load()
    }

    /// Stores a new state of a region or condition for an application that does not run. The event is delivered when
    /// the application runs.
    ///
    /// - Parameters:
    ///   - state: the new state.
    ///   - time: the start of the state, by the wall clock.
    ///   - id: the region or condition.
    ///   - constraint: its beacons. Nothing is stored if the application now has another region or condition with the
    ///     identifier.
    ///   - application: the application.
    /// - Returns: the trigger with its previous state. Nil if nothing is stored, because the application is running,
    ///   has no such trigger, or already knows the state.
    /// - Throws: ``StateError`` if the event cannot be stored.
    package func store(
        _ state: RegionState, at time: Timestamp, of id: LaunchTrigger.ID, constraint: BeaconConstraint,
        for application: ApplicationIdentity
    ) throws(StateError) -> LaunchTrigger? {
        // An application that starts now waits until the event is written.
        guard let mark = try FileLock(alone: runningMark(of: application).path) else { return nil }
        defer { withExtendedLifetime(mark) {} }
        guard
            let trigger = try triggers(of: application).first(where: { $0.id == id && $0.constraint == constraint }),
            trigger.state != state
        else { return nil }
        if let monitor = id.monitor {
            let event = StoredCondition.Event(state: .init(state), time: time.seconds)
            try FileMonitorStore(application, in: self).update(monitor) { conditions in
                guard let place = conditions.firstIndex(where: { $0.identifier == id.identifier }) else { return }
                conditions[place].pending = event
            }
        } else {
            let event = PendingRegionEvent(
                identifier: id.identifier, constraint: constraint, state: state, time: time)
            try pendingFile(of: application).update { events in
                events = (events + [event]).suffix(Self.maximumPendingEvents)
            }
        }
        return trigger
    }

    /// Removes the missed events of an application.
    func removePendingEvents(of application: ApplicationIdentity) throws(StateError) {
        let file = file("waiting", of: application)
        guard FileManager.default.fileExists(atPath: file.path) else { return }
        let lock = try lock(application)
        defer { withExtendedLifetime(lock) {} }
        try remove(file)
    }

    /// The file that an application keeps locked while it runs.
    func runningMark(of application: ApplicationIdentity) -> URL {
        folder(of: application).appendingPathComponent("running")
    }

    private func pendingFile(of application: ApplicationIdentity) -> StateFile<[PendingRegionEvent]> {
        StateFile(file("waiting", of: application), empty: [], of: application, in: self)
    }
}

extension StoredCondition.State {
    fileprivate init(_ state: RegionState) {
        self =
            switch state {
            case .unknown: .unknown
            case .inside: .satisfied
            case .outside: .unsatisfied
            }
    }
}
