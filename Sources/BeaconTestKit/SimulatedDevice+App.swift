internal import BeaconApplications
internal import BeaconMonitoring
internal import BeaconSupport
public import CoreLocation
internal import Foundation

/// The life of the device's app. Without a call of these methods, it stays in the foreground.
///
/// A change takes effect at once. Callbacks and launches that follow from it are made by the next `settle()` or
/// `advance(by:)` of the air.
extension SimulatedDevice {
    /// A state of an app.
    public enum AppState: Hashable, Sendable {
        /// It does not run, for this reason.
        case notRunning(Absence)
        /// It is on the screen.
        case foreground
        /// It runs until the end of a window, or as long as something keeps it awake.
        case background
        /// It is in memory, and none of its code runs.
        case suspended
    }

    /// The reason why an app does not run.
    public enum Absence: Hashable, Sendable {
        /// The system ended it.
        case system
        /// The user swiped it away.
        case user
        /// The device restarted, and was not unlocked since.
        case restart
    }

    /// A party that ends an app.
    public enum Ender: Hashable, Sendable {
        /// The system, for example because it needs memory.
        case system
        /// The user, who swipes the app away.
        case user
    }

    /// A permission that does not last.
    public enum TemporaryPermission: Hashable, Sendable {
        /// "Allow once". The app reads `authorizedWhenInUse` until it is suspended or ends, and then `notDetermined`.
        case once
        /// The result of asking for *always* first. The app reads `authorizedAlways`. Its first event in the background
        /// waits, and the user is asked: see ``SimulatedDevice/isAsking``. The answer is
        /// ``SimulatedDevice/authorize(_:)-(CLAuthorizationStatus)`` with *always*, or with *when in use*, which drops
        /// the event.
        case provisionalAlways
    }

    /// The state of the app.
    public var appState: AppState { application.now.state }

    /// The settings of the background.
    public var backgroundPolicy: BackgroundPolicy {
        get { application.now.policy }
        set { change { life, _ in life.policy = newValue } }
    }

    /// A Boolean value indicating whether the app's Info.plist has `location` in `UIBackgroundModes`. True by default.
    public var hasLocationBackgroundMode: Bool {
        get { application.now.hasBackgroundMode }
        set { change { life, _ in life.hasBackgroundMode = newValue } }
    }

    /// A Boolean value indicating whether an event launched the running app, and not its user. UIKit tells an app with
    /// the launch option `location`.
    public var isLaunchedByEvent: Bool { application.now.cause.map { $0 != .user } ?? false }

    // MARK: - Launching

    /// Launches the app into the foreground, as its user does. A running app is ended first, as for an update.
    ///
    /// The device calls `make` on the main actor, and again at each later launch: by an event, by
    /// ``enterForeground()``, and after ``unlock()``. So `make` is the app's entry point. A region's change that
    /// launched the app is delivered if a delegate exists when `make` returns. The device keeps the result until the
    /// app ends.
    ///
    /// - Returns: the result of `make`.
    @MainActor
    @discardableResult
    public func launch<App>(_ make: @escaping @MainActor () -> App) -> App {
        // Managers that the test made before belong to the first launch, too.
        if launcher.make != nil, application.now.isRunning { endApp(.system) }
        launcher.make = make
        hasClosure.withLock { $0 = true }
        return performLaunch(by: .user, make)
    }

    /// Returns the result of the last call of the launch closure; nil while the app does not run, and for another type.
    @MainActor
    public func app<App>(as type: App.Type = App.self) -> App? {
        appState.isRunning ? launcher.app as? App : nil
    }

    @MainActor
    private func performLaunch<App>(by cause: AppLife.Cause, _ make: @MainActor () -> App) -> App {
        onCenter { center, now in
            application.change { $0.beginLaunch(by: cause, at: now) }
            center.setPresence(application.now.presence)
        }
        launcher.app = nil
        let app = run { make() }
        launcher.app = app
        mustRelease.withLock { $0 = false }
        onCenter { center, _ in
            // After the requests that the closure made, and before the main queue makes a callback.
            if application.now.policy.lateDelegate == .receivesTheEvent { center.keepChangesForLateDelegates() }
            if let reason = center.reasonForLosingChanges {
                log(
                    """
                    a region's change is lost, as on iOS: \(reason) when the launch closure returned. If a static \
                    property keeps the manager of an earlier launch, use it in the closure, so that it moves to this one
                    """)
            }
            center.releaseChanges(isLaunch: true)
            if cause == .display { center.displayDidLightUp() }
        }
        return app
    }

    // MARK: - Moving

    /// Moves the app from the foreground to the background. It runs for the policy's `backgroundWindow`, and is then
    /// suspended. Harmless in other states.
    public func enterBackground() { change { $0.enterBackground(at: $1) } }

    /// Moves the app to the foreground. If it does not run, its user launches it.
    public func enterForeground() {
        change { life, _ in life.enterForeground() }
        onCenter { center, _ in center.releaseChanges() }
    }

    /// Ends the app. Its regions, conditions and permission stay.
    public func end(by ender: Ender) { endApp(ender == .user ? .user : .system) }

    /// Restarts the device. Its app does not run, and nothing launches it until ``unlock()``.
    public func restart() { endApp(.restart) }

    /// Unlocks a device after a restart.
    public func unlock() {
        change { life, _ in life.unlock() }
        onCenter { center, _ in center.releaseChanges() }
    }

    /// Lights up the screen. Late changes are noticed, and regions that request it report their state.
    public func turnScreenOn() {
        change { life, _ in life.turnScreenOn() }
        onCenter { center, _ in
            center.releaseChanges()
            center.displayDidLightUp()
        }
    }

    /// Darkens the screen, which moves an app in the foreground to the background.
    public func turnScreenOff() { change { $0.turnScreenOff(at: $1) } }

    // MARK: - Permission

    /// Gives the app a permission that does not last.
    public func authorize(_ permission: TemporaryPermission) {
        change { life, _ in life.decide(permission) }
        onCenter { center, _ in
            center.setStatus(permission == .once ? .whenInUse : .always)
            center.releaseChanges()
        }
    }

    /// The accuracy that the user allows; full by default.
    ///
    /// With reduced accuracy, the app receives no changes of regions and no ranging reports, and no errors. A
    /// `CLMonitor` reports `accuracyLimited`.
    public var accuracy: CLAccuracyAuthorization {
        get { application.now.isAccuracyReduced ? .reducedAccuracy : .fullAccuracy }
        set {
            change { life, _ in life.setAccuracy(isReduced: newValue == .reducedAccuracy) }
            onCenter { center, _ in center.updateLimits() }
        }
    }

    // MARK: - Background tasks

    /// A task that keeps the app awake in the background.
    public struct BackgroundTask: Sendable {
        let device: SimulatedDevice
        let number: UInt64

        /// Ends the task. Harmless if it has ended.
        public func end() {
            device.change { life, _ in life.endTask(number) }
            device.expirationHandlers.withLock { $0[number] = nil }
        }
    }

    /// Begins a task that keeps the app awake until it ends, but at most for the policy's `taskLimit`: UIKit's
    /// `beginBackgroundTask`, for apps that take this call as a dependency.
    ///
    /// - Parameters:
    ///   - name: its name, for messages.
    ///   - expirationHandler: called on the main actor at the limit. If the task is not ended then, the system ends the
    ///     app.
    @discardableResult
    public func beginBackgroundTask(
        name: String? = nil, expirationHandler: (@MainActor @Sendable () -> Void)? = nil
    ) -> BackgroundTask {
        let number = onCenter { _, now in application.change { $0.beginTask(at: now, name: name) } }
        expirationHandlers.withLock { $0[number] = expirationHandler }
        return BackgroundTask(device: self, number: number)
    }

    // MARK: - Work that is due

    /// Returns true if ``carryOutDueWork()`` or ``performMainWork()`` has something to do.
    func hasDueWork(at now: Int64) -> Bool { application.deadline <= now || mustRelease.withLock { $0 } }

    private var hasMainWork: Bool {
        application.now.launch != nil || expired.withLock { !$0.isEmpty } || mustRelease.withLock { $0 }
    }

    /// Carries out what is due without the app's code, after its callbacks of the present time.
    ///
    /// - Returns: true if the caller must call ``performMainWork()``.
    func carryOutDueWork() -> Bool {
        let due = onCenter { center, now in
            let due = application.change { $0.advance(to: now) }
            for work in due { carryOut(work, center) }
            return due
        }
        if case .end(let name)? = due.last {
            log(
                """
                the system ends the app, as iOS does: the background task \(name.map { "\"\($0)\"" } ?? "") was not \
                ended in time. End each task, at the latest in its expiration handler
                """)
            endApp(.system)
        }
        return hasMainWork
    }

    private func carryOut(_ work: AppLife.Due, _ center: isolated BeaconCenter) {
        switch work {
        case .release(let subject): center.releaseChange(of: subject)
        case .forgetHeldChanges: center.forgetChanges()
        case .missSession: center.updateLimits()
        case .expire(let number): expired.withLock { $0.append(number) }
        case .suspend:
            center.setPresence(.suspended)
            endUse(center)
        case .end: break
        }
    }

    /// Ends permissions that last while the app is in use.
    func endUse(_ center: isolated BeaconCenter) {
        let isUndecided = application.change { $0.endUse() }
        center.updateLimits()
        if isUndecided { center.setStatus(.notDetermined) }
    }

    /// Runs the app's code that is due: expiration handlers, and its launch.
    @MainActor
    func performMainWork() {
        let numbers = expired.withLock { numbers in
            defer { numbers = [] }
            return numbers
        }
        for number in numbers {
            guard let handler = expirationHandlers.withLock({ $0.removeValue(forKey: number) }) else { continue }
            run { handler() }
        }
        if mustRelease.withLock({ mustRelease in
            defer { mustRelease = false }
            return mustRelease
        }) {
            launcher.app = nil
        }
        guard let cause = application.now.launch else { return }
        guard let make = launcher.make else {
            log("cannot launch the app: no closure makes it. Launch it the first time with device.launch { … }")
            return change { life, _ in life.cancelLaunch() }
        }
        _ = performLaunch(by: cause, make)
    }

    private func log(_ message: String) {
        FileHandle.standardError.write(Data("SimulatedDevice \"\(name)\": \(message)\n".utf8))
    }
}

extension SimulatedDevice.AppState {
    /// A Boolean value indicating whether the app is in memory.
    var isRunning: Bool { if case .notRunning = self { false } else { true } }
}
