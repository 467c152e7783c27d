/// What the daemon starts for events.
public struct LaunchSettings: Hashable, Sendable {
    /// How applications are started that monitor regions by themselves and do not run.
    public struct Applications: Hashable, Sendable {
        /// The users whose applications are started; nil for the one who runs the daemon.
        public var users: [String]?

        /// How long a started application may run; nil for as long as it likes.
        public var timeLimit: Duration?

        /// The least time from one start of an application to the next.
        public var interval: Duration

        /// The applications of the user who runs the daemon, for 30 seconds at a time: on iOS an application that was
        /// launched for a region has about ten, and a Raspberry Pi is slower.
        public init(
            users: [String]? = nil, timeLimit: Duration? = .seconds(30), interval: Duration = .seconds(10)
        ) {
            self.users = users
            self.timeLimit = timeLimit
            self.interval = interval
        }
    }

    /// How applications are started; nil where they are not.
    public var applications: Applications?

    /// What else is started.
    public var rules: [LaunchRule]

    /// Settings from their parts.
    public init(applications: Applications? = nil, rules: [LaunchRule] = []) {
        self.applications = applications
        self.rules = rules
    }
}
