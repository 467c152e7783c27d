package import BeaconApplications

/// The life of an application that a test simulates. Its center asks it what becomes of each change of a region or
/// condition, and otherwise delivers everything at once.
///
/// All calls come from the center's queue, with the center's time in nanoseconds.
package protocol ApplicationLife: AnyObject, Sendable {
    /// Decides what becomes of an event.
    func admit(_ event: ApplicationEvent, status: AuthorizationStatus, at now: Int64) -> Admission

    /// Forgets a subject whose change no longer waits.
    func forget(_ subject: ApplicationEvent.Subject)

    /// Begins a use of location in the background.
    ///
    /// - Returns: false if it has no effect.
    func begin(_ use: BackgroundUse, status: AuthorizationStatus) -> Bool

    /// Ends a use of location in the background.
    func end(_ use: BackgroundUse)

    /// Begins a service session.
    func beginSession(of client: ClientID)

    /// Ends the uses and the session of a client.
    func removeClient(_ client: ClientID)

    /// Allows full accuracy until the application is no longer in use.
    func allowFullAccuracy()

    /// The obstacles that the application's authorization does not show.
    var limits: UsageLimits { get }

    /// A Boolean value indicating whether the application has the background mode `location`.
    var hasBackgroundMode: Bool { get }
}

/// An event of an application whose life is simulated.
package enum ApplicationEvent: Hashable, Sendable {
    /// A direction in which a border is crossed.
    package enum Crossing: Hashable, Sendable {
        case entry, exit
    }

    /// The region or condition that changed.
    package enum Subject: Hashable, Sendable {
        case region(String)
        case condition(ClientConditionID)
    }

    /// A change of a region or condition, and the entry or exit that it makes; nil if it makes none.
    case change(Subject, Crossing?)
    /// The display lit up in a region that requests its state.
    case display

    /// A Boolean value indicating whether the system runs an application for the event.
    package var wakes: Bool {
        if case .change(_, nil) = self { false } else { true }
    }
}

/// The decision about an event.
package enum Admission: Hashable, Sendable {
    /// It is delivered.
    case deliver
    /// The application wakes, and it is delivered.
    case wake
    /// It waits. Later, the present state is compared with the state that the application knows.
    case withhold
    /// It is never delivered.
    case lose
}

/// The presence of an application on its device.
package enum AppPresence: Hashable, Sendable {
    case notRunning, foreground, background, suspended

    /// A Boolean value indicating whether the application's code runs.
    var isAwake: Bool { self == .foreground || self == .background }
}

/// A use of location that continues in the background.
package struct BackgroundUse: Hashable, Sendable {
    /// A kind of use.
    package enum Kind: Hashable, Sendable {
        case activitySession, locationUpdates
    }

    /// The kind.
    package var kind: Kind
    /// The client that uses location.
    package var client: ClientID
}

/// Obstacles to an application's use of location that its authorization does not show.
package struct UsageLimits: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8

    /// Creates limits.
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The user allows reduced accuracy only, which is not enough for beacons.
    package static let reducedAccuracy = UsageLimits(rawValue: 1 << 0)
    /// The application did not make its service session again.
    package static let serviceSessionRequired = UsageLimits(rawValue: 1 << 1)
}
