/// How a simulated device treats its app in the background.
///
/// Apple documents few of these numbers. The defaults follow the reports that docs/rules.md names. A value beyond its
/// bounds counts as the nearest bound.
public struct BackgroundPolicy: Hashable, Sendable {
    /// The length of a period in which the system lets an app run.
    public struct Window: Hashable, Sendable {
        let shortest: Duration
        let longest: Duration

        /// A window that always has the same length.
        public static func fixed(_ length: Duration) -> Window { Window(shortest: length, longest: length) }

        /// A window with a different length each time, which the air's seed decides.
        public static func drawn(from shortest: Duration, to longest: Duration) -> Window {
            Window(shortest: min(shortest, longest), longest: max(shortest, longest))
        }
    }

    /// The effect of an event on the window of an earlier one.
    public enum AnotherEvent: Hashable, Sendable {
        /// The window starts again.
        case startsTheWindowAgain
        /// The window ends as if the event had not happened.
        case keepsTheEnd
    }

    /// The fate of an event that launched an app whose managers have no delegate when the launch closure returns.
    public enum LateDelegate: Hashable, Sendable {
        /// The event is lost, as on iOS.
        case losesTheEvent
        /// A delegate that is set later receives the event.
        case receivesTheEvent
    }

    /// How long an app runs after an event woke or launched it: 0 to 30 s, initially 10 s.
    public var wakeWindow = Window.fixed(.seconds(10))

    /// How long an app runs after it left the foreground: 0 to 30 s, initially 5 s.
    public var backgroundWindow = Duration.seconds(5)

    /// How long a background task keeps an app awake: 0 to 180 s, initially 30 s.
    public var taskLimit = Duration.seconds(30)

    /// The effect of another event during the window of an earlier one.
    public var anotherEvent = AnotherEvent.startsTheWindowAgain

    /// By how much an entry is late while the screen is off: 0 to 15 minutes, initially zero.
    public var entryDelay = Duration.zero

    /// By how much an exit is late while the screen is off, in addition to its usual 30 s: 0 to 15 minutes, initially
    /// zero.
    public var exitDelay = Duration.zero

    /// The part of the exits that the system never reports to an app outside of the foreground: 0 to 1, initially zero.
    /// The air's seed decides which ones.
    public var lostExits = 0.0

    /// A Boolean value indicating whether events launch an app that its user has ended. False by default, as reported
    /// of iOS 26; up to iOS 18 they did.
    public var launchesAfterUserEnds = false

    /// A Boolean value indicating whether a launch needs the background mode `location`, as Apple's article states.
    /// True by default. Phones were seen to launch apps without it.
    public var launchNeedsBackgroundMode = true

    /// The fate of an event that launched an app without a delegate.
    public var lateDelegate = LateDelegate.losesTheEvent

    /// How much time an app has after a launch to make its `CLServiceSession` again: 0 to 30 s, initially 5 s.
    public var sessionGrace = Duration.seconds(5)

    /// How long an event waits for the answer to the second question of a provisional permission: 0 to 24 hours,
    /// initially one hour.
    public var provisionalHold = Duration.seconds(3600)

    /// Creates a policy with the defaults.
    public init() {}
}

extension Duration {
    /// The whole nanoseconds between zero and a bound in seconds.
    func nanoseconds(upTo seconds: Int64) -> Int64 {
        let limited = min(max(self, .zero), .seconds(seconds))
        return limited.components.seconds * 1_000_000_000 + limited.components.attoseconds / 1_000_000_000
    }
}
