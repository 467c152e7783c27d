internal import BeaconMonitoring

extension Situation {
    /// The app ends, and the visitor comes, so that the system launches it.
    private static let arrivalAfterEnd = Step.all(
        .outside, .end(by: .system), .mark("entry"), .place(1, at: 1), .wait(40))

    private static let launchSource = Conformance.Source(
        .apple, "Determining the proximity to an iBeacon device: the system tries to launch your app")

    /// Apps that do not run when the visitor comes.
    static let launches: [Situation] = [
        Situation(
            30, "launched", "The system ended the app. The visitor comes, and the system launches it.",
            expects: "the note, without a screen", launchSource, .init(.field, "frostney/react-native-ibeacon#25"),
            .init(.field, "petermetz/cordova-plugin-ibeacon#259"), needs: [.beacons, .background, .launches],
            script: [
                // The judgement of a late delegate is situation 31.
                Step { $0.device.backgroundPolicy.lateDelegate = .receivesTheEvent }, arrivalAfterEnd,
            ],
            judge: { judgement in
                guard judgement.isMissed, !judgement.usesMonitor else { return }
                let transcript = judgement.transcript
                let isSeen = !transcript.presenceSights(from: judgement.time("entry")).isEmpty
                let hasClients = transcript.requests.clientCount > 0
                judgement.find(
                    isSeen
                        ? "drops the event that launched it"
                        : hasClients ? "has no delegate when launched" : "never makes a manager when launched",
                    at: judgement.time("entry"))
            }),
        Situation(
            31, "late delegate", "The same, and an event without a delegate is lost.",
            expects: "manager and delegate exist when the launch closure returns",
            .init(.apple, "CLLocationManager: set the delegate before you start services"),
            .init(.field, "petermetz/cordova-plugin-ibeacon#342"), needs: [.beacons, .background, .launches],
            script: [arrivalAfterEnd],
            judge: { judgement in
                guard judgement.isMissed, !judgement.hasFinding(in: 30), !judgement.usesMonitor else { return }
                judgement.find("sets its delegate after the launch: the event is lost", at: judgement.time("entry"))
            }),
        Situation(
            32, "monitor not opened", "The system ended an app with a CLMonitor, and launches it for an event.",
            expects: "the app opens the monitor and awaits its events at once",
            .init(.apple, "Meet Core Location Monitor, WWDC 2023/10147"),
            needs: [.beacons, .conditions, .background, .launches],
            script: [arrivalAfterEnd],
            judge: { judgement in
                guard judgement.isMissed, judgement.usesMonitor else { return }
                let isSeen = !judgement.transcript.presenceSights(from: judgement.time("entry")).isEmpty
                judgement.find(
                    isSeen ? "drops the event that launched it" : "does not open its monitor again when launched",
                    at: judgement.time("entry"))
            }),
        Situation(
            33, "ended by its user", "The user swiped the app away, the visitor comes, and the user opens the app.",
            expects: "the app catches up when it is opened", .init(.field, "Apple developer forums 826964, iOS 26"),
            script: [
                .outside, .end(by: .user), .mark("entry"), .place(1, at: 1), .wait(60), .enterForeground, .wait(30),
            ],
            judge: { judgement in
                guard judgement.isMissed, !judgement.hasFinding(in: 2) else { return }
                judgement.find("does not catch up when its user opens it after a swipe", at: judgement.time("entry"))
            }),
        Situation(
            34, "restart", "The device restarts, the visitor comes, and the user unlocks the device.",
            expects: "the note after the unlock", .init(.apple, "CLMonitor: nothing before the first unlock"),
            needs: [.beacons, .background, .launches],
            script: [.outside, .mark("entry"), .restart(.place(1, at: 1), .wait(60)), .wait(60)],
            judge: { judgement in
                guard judgement.isMissed, !judgement.hasFinding(in: 30, 31, 32) else { return }
                judgement.find("loses the visit over a restart", at: judgement.time("entry"))
            }),
    ]
}

extension Judgement {
    /// True if the app notes arrivals, but not this one.
    fileprivate var isMissed: Bool {
        !habits.arrivals.isEmpty && arrivals(from: "entry").isEmpty && !hasFinding(in: 1, 20, 21)
    }

    /// True if a monitor is what launches the app.
    fileprivate var usesMonitor: Bool { transcript.requests.regions.isEmpty }
}
