internal import BeaconApplications
internal import BeaconMonitoring
internal import BeaconSupport

/// The life of a device's app as a value: its state, and the meaning of each event in that state.
///
/// It reads no clock and does nothing itself. The device carries out its decisions.
struct AppLife: Sendable {
    /// Work for the device that a point in time makes due.
    enum Due: Hashable {
        /// A change is no longer late.
        case release(ApplicationEvent.Subject)
        /// The user did not answer the question about a provisional permission.
        case forgetHeldChanges
        /// The app did not make its service session again.
        case missSession
        /// A background task has reached its limit.
        case expire(UInt64)
        /// The background task with this name was not ended at its limit.
        case end(String?)
        /// The app's window is over.
        case suspend
    }

    /// The cause of a launch.
    enum Cause: Hashable {
        case user, event, display
    }

    private struct BackgroundTask {
        var begin: Int64
        var name: String?
        var hasExpired = false
    }

    var policy = BackgroundPolicy()
    private(set) var state = SimulatedDevice.AppState.foreground
    /// When the present window in the background began, and when it ends.
    private var window = (begin: Int64(0), end: Int64(0))
    private var tasks: [UInt64: BackgroundTask] = [:]
    private var nextTask: UInt64 = 0
    /// Uses of location that keep the app awake and in use. They began in the foreground.
    private var uses: Set<BackgroundUse> = []
    /// The cause of the launch that the device must make.
    private(set) var launch: Cause?
    /// The cause of the running launch.
    private(set) var cause: Cause?

    var hasBackgroundMode = true
    var isScreenOn = true
    private(set) var permission: SimulatedDevice.TemporaryPermission?
    /// Until when a change waits for the user's answer about a provisional permission.
    private(set) var questionEnd: Int64?
    private(set) var isAccuracyReduced = false
    private var isTemporarilyAccurate = false

    /// The subjects whose change is late, and until when; `noticed` once the system has noticed it.
    private var late: [ApplicationEvent.Subject: Int64] = [:]
    /// The exits that are not lost.
    private var kept: Set<ApplicationEvent.Subject> = []
    private static let noticed = Int64.min
    private var random: SplitMix64

    private var sessions: Set<ClientID> = []
    /// True if an earlier launch had a session, so that this one must make it again.
    private var needsSession = false
    private var sessionEnd: Int64?
    private(set) var isSessionMissing = false

    init(seed: UInt64) { random = SplitMix64(seed: seed) }

    // MARK: - State

    var isRunning: Bool { state.isRunning }

    /// True while the app's code runs.
    var isAwake: Bool { state == .foreground || state == .background }

    /// The state as the center needs it.
    var presence: AppPresence {
        switch state {
        case .notRunning: .notRunning
        case .foreground: .foreground
        case .background: .background
        case .suspended: .suspended
        }
    }

    /// The obstacles that the app's authorization does not show.
    var limits: UsageLimits {
        var result: UsageLimits = []
        if isAccuracyReduced, !isTemporarilyAccurate { result.insert(.reducedAccuracy) }
        if isSessionMissing { result.insert(.serviceSessionRequired) }
        return result
    }

    /// True if an app with permission while in use receives events.
    private var isInUse: Bool { state == .foreground || state == .background && !uses.isEmpty }

    mutating func enterBackground(at now: Int64) {
        guard state == .foreground else { return }
        state = .background
        window = (now, now + policy.backgroundWindow.nanoseconds(upTo: 30))
    }

    /// Moves a running app to the foreground, or requests its launch by the user.
    mutating func enterForeground() {
        turnScreenOn()
        guard isRunning else { return launch = .user }
        state = .foreground
        for number in tasks.keys { tasks[number]?.hasExpired = false }
    }

    mutating func end(_ absence: SimulatedDevice.Absence) {
        state = .notRunning(absence)
        needsSession = needsSession || !sessions.isEmpty
        (tasks, uses, sessions) = ([:], [], [])
        (sessionEnd, isSessionMissing, isTemporarilyAccurate, launch, cause) = (nil, false, false, nil, nil)
    }

    mutating func unlock() {
        turnScreenOn()
        if state == .notRunning(.restart) { state = .notRunning(.system) }
    }

    /// Begins a launch.
    mutating func beginLaunch(by cause: Cause, at now: Int64) {
        launch = nil
        self.cause = cause
        if cause == .user {
            state = .foreground
        } else {
            state = .background
            startWakeWindow(at: now)
        }
        if needsSession { sessionEnd = now + policy.sessionGrace.nanoseconds(upTo: 30) }
    }

    /// Drops the launch that is due: the device has no app to launch.
    mutating func cancelLaunch() { launch = nil }

    private mutating func startWakeWindow(at now: Int64) {
        let shortest = policy.wakeWindow.shortest.nanoseconds(upTo: 30)
        let longest = policy.wakeWindow.longest.nanoseconds(upTo: 30)
        let length = shortest == longest ? shortest : Int64.random(in: shortest...longest, using: &random)
        window = (now, now + length)
    }

    // MARK: - Permission

    mutating func decide(_ permission: SimulatedDevice.TemporaryPermission?) {
        self.permission = permission
        questionEnd = nil
    }

    mutating func setAccuracy(isReduced: Bool) {
        isAccuracyReduced = isReduced
        isTemporarilyAccurate = false
    }

    /// Allows full accuracy until the app is no longer in use.
    mutating func allowFullAccuracy() { isTemporarilyAccurate = true }

    /// Ends permissions that last while the app is in use.
    ///
    /// - Returns: true if the app's authorization is undecided again.
    mutating func endUse() -> Bool {
        isTemporarilyAccurate = false
        guard permission == .once else { return false }
        permission = nil
        return true
    }

    mutating func beginSession(of client: ClientID) {
        sessions.insert(client)
        (needsSession, sessionEnd, isSessionMissing) = (false, nil, false)
    }

    /// Ends the session and the uses of a client.
    mutating func remove(_ client: ClientID) {
        sessions.remove(client)
        uses = uses.filter { $0.client != client }
    }

    // MARK: - Staying awake

    /// Begins a use of location in the background.
    ///
    /// - Returns: false if it has no effect: it must begin in the foreground.
    mutating func begin(_ use: BackgroundUse, status: AuthorizationStatus) -> Bool {
        guard state == .foreground, use.kind != .locationUpdates || hasBackgroundMode && status.isGranted else {
            return false
        }
        uses.insert(use)
        return true
    }

    mutating func end(_ use: BackgroundUse) { uses.remove(use) }

    mutating func beginTask(at now: Int64, name: String?) -> UInt64 {
        nextTask += 1
        if isRunning { tasks[nextTask] = BackgroundTask(begin: now, name: name) }
        return nextTask
    }

    mutating func endTask(_ task: UInt64) { tasks[task] = nil }

    // MARK: - Events

    /// Decides what becomes of an event, and changes the state accordingly.
    mutating func admit(_ event: ApplicationEvent, status: AuthorizationStatus, at now: Int64) -> Admission {
        guard limits.isEmpty else { return .withhold }
        if state == .foreground { return delivered(event) }
        guard status.isGranted, !isLate(event, at: now) else { return .withhold }
        guard !isLost(event) else { return .lose }
        guard status == .always && permission == nil || isInUse else {
            // A question needs a system that may run the app.
            if status == .always, event.wakes, isRunning || mayLaunch, questionEnd == nil {
                questionEnd = now + policy.provisionalHold.nanoseconds(upTo: 24 * 3600)
            }
            return .withhold
        }
        switch state {
        case .foreground: return delivered(event)
        case .background:
            if event.wakes, policy.anotherEvent == .startsTheWindowAgain { startWakeWindow(at: now) }
            return delivered(event)
        case .suspended:
            guard event.wakes else { return .withhold }
            state = .background
            startWakeWindow(at: now)
            _ = delivered(event)
            return .wake
        case .notRunning:
            if event.wakes, mayLaunch, launch == nil { launch = event == .display ? .display : .event }
            return .withhold
        }
    }

    private mutating func delivered(_ event: ApplicationEvent) -> Admission {
        if case .change(let subject, _) = event { forget(subject) }
        return .deliver
    }

    private var mayLaunch: Bool {
        guard hasBackgroundMode || !policy.launchNeedsBackgroundMode else { return false }
        return switch state {
        case .notRunning(.system): true
        case .notRunning(.user): policy.launchesAfterUserEnds
        default: false
        }
    }

    /// Returns true if the system notices a change later, because the screen is off.
    private mutating func isLate(_ event: ApplicationEvent, at now: Int64) -> Bool {
        guard case .change(let subject, let crossing?) = event, !isScreenOn else { return false }
        let delay = crossing == .entry ? policy.entryDelay : policy.exitDelay
        let end = late[subject] ?? now + delay.nanoseconds(upTo: 15 * 60)
        guard end > now else { return false }
        late[subject] = end
        return true
    }

    /// Returns true if the system never reports this exit.
    private mutating func isLost(_ event: ApplicationEvent) -> Bool {
        guard case .change(let subject, .exit?) = event, policy.lostExits > 0, !kept.contains(subject) else {
            return false
        }
        if Double.random(in: 0..<1, using: &random) < policy.lostExits {
            forget(subject)
            return true
        }
        kept.insert(subject)
        return false
    }

    /// Lets the system notice all late changes.
    mutating func turnScreenOn() {
        isScreenOn = true
        late = late.mapValues { _ in Self.noticed }
    }

    mutating func turnScreenOff(at now: Int64) {
        isScreenOn = false
        enterBackground(at: now)
    }

    /// Forgets a subject whose change no longer waits.
    mutating func forget(_ subject: ApplicationEvent.Subject) {
        late[subject] = nil
        kept.remove(subject)
    }

    // MARK: - Time

    /// The next time at which something becomes due; nil if nothing does by itself.
    var deadline: Int64? {
        let times = [questionEnd, sessionEnd, awakeEnd].compactMap { $0 }
        return (times + late.values.filter { $0 != Self.noticed }).min()
    }

    /// When the app's time in the background ends; nil if it does not.
    private var awakeEnd: Int64? {
        guard state == .background, uses.isEmpty else { return nil }
        return tasks.values.map { limit(of: $0) }.min() ?? window.end
    }

    private func limit(of task: BackgroundTask) -> Int64 {
        max(task.begin, window.begin) + policy.taskLimit.nanoseconds(upTo: 180)
    }

    /// Returns the work that is due, and changes the state accordingly.
    mutating func advance(to now: Int64) -> [Due] {
        var result: [Due] = []
        let noticed = late.filter { $0.value != Self.noticed && $0.value <= now }
        for (subject, _) in noticed.sorted(by: { $0.value < $1.value }) {
            // It stays until the change is delivered, so that the change is not late a second time.
            late[subject] = Self.noticed
            result.append(.release(subject))
        }
        if let questionEnd, questionEnd <= now {
            self.questionEnd = nil
            result.append(.forgetHeldChanges)
        }
        if let sessionEnd, sessionEnd <= now {
            (self.sessionEnd, isSessionMissing) = (nil, true)
            result.append(.missSession)
        }
        guard state == .background, uses.isEmpty else { return result }
        if let task = tasks.values.first(where: \.hasExpired) { return result + [.end(task.name)] }
        for (number, task) in tasks.sorted(by: { $0.key < $1.key }) where limit(of: task) <= now {
            tasks[number]?.hasExpired = true
            result.append(.expire(number))
        }
        if tasks.isEmpty, window.end <= now {
            state = .suspended
            result.append(.suspend)
        }
        return result
    }
}
