internal import BeaconApplications
internal import BeaconMonitoring
internal import BeaconSupport
public import CoreLocation

/// A check of a beacon app in forty situations that apps meet on iOS: visits, noise, the background, launches,
/// permissions.
///
/// Give it a closure that makes the app, and one line in the app's outlet, where it notifies its user or its server:
///
/// ```swift
/// let conformance = Conformance()
/// let report = await conformance.run("Museum Guide") { launch in
///     MuseumGuide(notify: { conformance.note($0) })
/// }
/// #expect(report.findings.isEmpty, "\(report)")
/// ```
///
/// The check sees each callback to the app, and the app's requests to Core Location and Core Bluetooth. It first
/// learns from a plain visit which notes are the app's greeting and its goodbye, and then judges the other situations
/// by these. It controls the process's clock: run it in a serialized suite.
public final class Conformance: Sendable {
    private let recording = Locked<Stage.Recording?>(nil)

    /// Creates a check.
    public init() {}

    /// Records that the app notified its user or its server. Any thread may call it.
    ///
    /// - Parameter text: the same text for the same meaning, such as "greeting" or "exhibit 7". A text with a time or
    ///   a random identifier in it never repeats, so that repetitions cannot be found.
    public func note(_ text: String) { recording.withLock { $0 }?.add(.note(text)) }

    /// Records what the app's screen shows now. Unlike notes, the same text again is no second event, and a screen in
    /// the background is not visible.
    public func show(_ text: String) { recording.withLock { $0 }?.add(.show(text)) }

    /// A launch of the app.
    public struct Launch: Sendable {
        /// The device that the app runs on, for an app that takes UIKit's background tasks as a dependency.
        public let device: SimulatedDevice
        /// True if an event launched the app. iOS then shows no screen of it.
        public let isByEvent: Bool
    }

    /// The facts about an app that the check cannot see.
    public struct Options: Sendable {
        /// The beacons to use, at most two. By default they follow from the regions and constraints that the app
        /// requests when it is launched.
        public var beacons: [CLBeaconIdentityConstraint] = []
        /// The regions that earlier versions of the app monitored, and that this version should stop.
        public var formerRegions: [CLBeaconRegion] = []
        /// True if the app's Info.plist has `location` in `UIBackgroundModes`. By default it is not known.
        public var hasLocationBackgroundMode: Bool?
        /// The numbers of the situations to run; all by default. Situations 1, 3, 4, 7 and 15 always run.
        public var situations: Set<Int> = Set(1...40)

        /// Creates the default options.
        public init() {}
    }

    /// Runs the situations.
    ///
    /// - Parameters:
    ///   - name: the app's name, for the report.
    ///   - options: what to know of the app.
    ///   - scene: called after the app came to the foreground (true), and when it goes to the background (false), as
    ///     UIKit's scene delegate or SwiftUI's `scenePhase`.
    ///   - make: makes the app, as at its launch. It is called for each launch in each situation.
    /// - Returns: the report. If the environment has `BEACON_CONFORMANCE_REPORTS`, it is also written to that folder.
    @MainActor
    public func run<App>(
        _ name: String, options: Options = Options(), scene: (@MainActor (App, _ isActive: Bool) -> Void)? = nil,
        _ make: @escaping @MainActor (Launch) -> App
    ) async -> Report {
        let subject = Subject(options: options) { make($0) }
        if let scene {
            subject.changeScene = { app, isActive in
                if let app = app as? App { scene(app, isActive) }
            }
        }
        let crashes = CrashReport(app: name)
        var transcripts: [Int: Transcript] = [:]
        let wanted = options.situations.union(Situation.references)
        for situation in Situation.all where wanted.contains(situation.number) {
            if let missing = situation.isMissing(subject) {
                subject.skipped[situation.number] = missing
                continue
            }
            crashes.begin(situation)
            let stage = Stage(subject)
            recording.withLock { $0 = stage.recording }
            for step in situation.script { await step.run(stage) }
            let transcript = stage.finish()
            transcripts[situation.number] = transcript
            if situation.number == 1 { subject.isForForegroundOnly = transcript.authorization == .whenInUse }
            recording.withLock { $0 = nil }
        }
        crashes.end()
        let report = Report(name, transcripts, skipped: subject.skipped, subject.facts)
        report.writeIfRequested()
        return report
    }

    /// The app under test, and the facts about it.
    @MainActor
    final class Subject {
        let options: Options
        let make: @MainActor (Launch) -> Any
        var changeScene: (@MainActor (Any, Bool) -> Void)?
        private(set) var identities = Identities()
        /// The reasons why situations do not apply.
        var skipped: [Int: String] = [:]
        /// The app's requests after its first launch.
        private(set) var requests = CenterRequests()

        init(options: Options, _ make: @escaping @MainActor (Launch) -> Any) {
            self.options = options
            self.make = make
        }

        /// True if the app's permission allows use in the foreground only.
        var isForForegroundOnly = false

        var facts: Judgement.Facts {
            Judgement.Facts(
                knowsScenes: changeScene != nil, formerRegions: Set(options.formerRegions.map(\.identifier)),
                hasBackgroundMode: options.hasLocationBackgroundMode)
        }

        /// Learns which beacons the app wants from its requests after a launch.
        func learn(_ new: CenterRequests) {
            guard identities.first == nil else { return }
            requests = new
            identities = Identities(new, options.beacons)
        }
    }
}
