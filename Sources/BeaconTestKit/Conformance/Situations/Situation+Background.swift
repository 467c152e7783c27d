internal import BeaconModel
internal import BeaconMonitoring

extension Situation {
    /// Launches the app outside of all regions and lets it be suspended, with this window for later events.
    private static func outsideSuspended(window: Double) -> Step { .all(.outside, .window(window), .suspend) }

    /// Launches the app beside a beacon that came later, and lets it be suspended.
    private static let insideSuspended = Step.all(
        .outside, .mark("beacon"), .place(1, at: 1), .wait(25), .mark("background"), .suspend)

    /// A minute in the background, and a short return to the foreground.
    private static func back(_ mark: String) -> Step {
        .all(.wait(60), .mark(mark), .enterForeground, .wait(15), .suspend)
    }

    private static let windowSource = Conformance.Source(
        .engineer, "Apple developer forums 815618: from immediately to about 30 s")
    private static let wakeSource = Conformance.Source(
        .apple, "Determining the proximity to an iBeacon device, and its archived guide: about 10 s")

    /// Suspended apps.
    static let background: [Situation] = [
        Situation(
            18, "to the background", "The app is suspended for a minute during a visit, and comes back.",
            expects: "the visit goes on, and ranging resumes",
            .init(.apple, "Extending your app's background execution time"),
            script: [insideSuspended, .wait(30), .mark("return"), .enterForeground, .wait(15)],
            judge: { judgement in
                let transcript = judgement.transcript
                if let goodbye = judgement.departures(from: "background").first {
                    judgement.find("loses the visit when the app goes to the background", at: goodbye.time)
                } else if judgement.habits.keepsRanging,
                    !transcript.requests(at: judgement.time("background")).ranged.isEmpty,
                    transcript.requests.ranged.isEmpty
                {
                    judgement.find(
                        "does not range again after its return from the background", at: judgement.time("return"))
                }
            }),
        Situation(
            19, "window of 0 s", "The system suspends the app as soon as the callback of the entry has returned.",
            expects: "the note in the callback itself", .init(.field, "windows measured for beacons: 0 to 10 s"),
            needs: [.beacons, .background],
            script: [outsideSuspended(window: 0), .mark("entry"), .place(1, at: 1), .wait(30)],
            judge: { judgement in
                guard !judgement.habits.arrivals.isEmpty, judgement.arrivals(from: "entry").isEmpty else { return }
                judgement.find(
                    "misses the visit if the system suspends at once", at: judgement.time("entry"),
                    isRemark: !judgement.habits.notesAtEntry)
            }),
        window(
            20, "window of 3 s", "A beacon is near from the first second of a window of 3 s.", windowSource, seconds: 3,
            visit: .all(.place(1, at: 1), .wait(30))),
        window(
            21, "window of 10 s", "A beacon comes near within a window of 10 s.", wakeSource, seconds: 10,
            visit: .all(.place(1, at: 8), .wait(2), .walk(1, to: 1, in: 4), .wait(30))),
        window(
            22, "window of 30 s", "A beacon comes near within a window of 30 s.", windowSource, seconds: 30,
            isRemark: true, visit: .all(.place(1, at: 12), .wait(12), .walk(1, to: 1, in: 6), .wait(30))),
        Situation(
            23, "slow approach", "A beacon is far for a minute, and comes near without a further event.",
            expects: "the app asks for more time, or acts on the entry",
            .init(.field, "the recipe's comment on the few seconds"),
            needs: [.beacons, .background],
            script: [
                outsideSuspended(window: 10), .mark("entry"), .place(1, at: 16), .wait(60), .walk(1, to: 1, in: 10),
                .wait(60),
            ],
            judge: { judgement in
                guard !judgement.habits.arrivals.isEmpty, judgement.arrivals(from: "entry").isEmpty,
                    !judgement.hasFinding(in: 20, 21)
                else { return }
                // Whether that matters is for the app to decide: the same code is right for an app of the foreground.
                judgement.find(
                    "cannot notice: the beacon came near after the window", at: judgement.time("entry"), isRemark: true)
            }),
        Situation(
            24, "timer while suspended", "The app has 3 s for an arrival. The visitor leaves while it is suspended.",
            expects: "no greeting after the departure", .init(.apple, "Handling location updates in the background"),
            .init(.field, "timers of a suspended app fire when it runs again"), needs: [.beacons, .background],
            script: [
                outsideSuspended(window: 3), .place(1, at: 1), .wait(300), .mark("gone"), .silence(1), .wait(900),
                .enterForeground, .wait(20),
            ],
            judge: { judgement in
                guard judgement.canCount, let late = judgement.arrivals(from: "gone").first else { return }
                judgement.find(
                    "greets late, at the next wake: \"\(late.text)\" after the visitor has left", at: late.time)
            }),
        Situation(
            25, "two entries in one window", "The visitor enters a second region 2 s after the first.",
            expects: "both are noticed, as in the foreground", wakeSource,
            needs: [.beacons, .otherRegion, .background],
            script: [
                .outside, .mark("foreground"), .place(1, at: 1), .wait(2), .mark("foreground second"),
                .placeOther(at: 1), .wait(20), .silence(1, 3), .wait(90), .suspend, .mark("entry"), .place(1, at: 1),
                .wait(2), .mark("second"), .placeOther(at: 1), .wait(40),
            ],
            judge: { judgement in
                let transcript = judgement.transcript
                let usual = transcript.notes(from: "foreground second").filter {
                    $0.time < judgement.time("foreground second") + 20
                }
                guard judgement.canCount, !usual.isEmpty, transcript.notes(from: "second").isEmpty,
                    !judgement.hasFinding(in: 20, 21)
                else { return }
                judgement.find("drops the second region", at: judgement.time("second"))
            }),
        Situation(
            26, "exit while suspended", "The visitor leaves while the app is suspended.",
            expects: "the end of the visit at the exit", .init(.apple, "Region monitoring: the system wakes the app"),
            needs: [.beacons, .background],
            script: [
                insideSuspended, .mark("gone"), .silence(1), .wait(120), .mark("return"), .enterForeground, .wait(15),
            ],
            judge: { judgement in
                guard !judgement.habits.departures.isEmpty, !judgement.arrivals(from: "beacon").isEmpty,
                    judgement.departures(from: "background", to: "return").isEmpty, !judgement.hasFinding(in: 18),
                    // An app that waits before it says goodbye cannot do so within a window.
                    judgement.habits.departureDelay < 10
                else { return }
                judgement.find("ends the visit at the wrong time: not at the exit", at: judgement.time("gone") + 30)
            }),
        Situation(
            27, "back inside", "The app returns to the foreground in the same visit.", expects: "no second greeting",
            .init(.field, "home-assistant/iOS#1369"),
            script: [insideSuspended, back("first"), back("second")],
            judge: { judgement in
                guard judgement.canCount, !judgement.hasFinding(in: 18),
                    let again = judgement.repeatedArrivals(from: "first").first
                else { return }
                judgement.find("greets at each return to the foreground", at: again.time)
            }),
        Situation(
            28, "screen on", "The screen lights up five times inside a region with notifyEntryStateOnDisplay.",
            expects: "one greeting", .init(.apple, "CLBeaconRegion.notifyEntryStateOnDisplay"),
            .init(.field, "home-assistant/iOS#1369"), needs: [.beacons, .displayState, .background],
            script: [insideSuspended, .mark("screen"), .repeated(5, .lookAtScreen)],
            judge: { judgement in
                guard judgement.canCount, let again = judgement.repeatedArrivals(from: "screen").first else { return }
                judgement.find("greets at each look at the screen", at: again.time)
            }),
    ]

    /// A visit that begins while the app is suspended, after the same visit in the foreground.
    private static func window(
        _ number: Int, _ name: String, _ course: String, _ source: Conformance.Source, seconds: Double,
        isRemark: Bool = false, visit: Step
    ) -> Situation {
        Situation(
            number, name, course, expects: "the note within the window", source, needs: [.beacons, .background],
            script: [
                .outside, .mark("control"), visit, .mark("control end"), .silence(1), .wait(90), .window(seconds),
                .suspend, .mark("entry"), visit,
            ],
            judge: { judgement in
                guard let usual = judgement.arrivals(from: "control", to: "control end").first,
                    judgement.arrivals(from: "entry").isEmpty, !judgement.hasFinding(in: 1, 20, 21)
                else { return }
                // In a short window the beacon is near at once, so that any delay is the app's. In a longer one it
                // comes later, and the filter of ranging needs some seconds, too.
                let delay = usual.time - judgement.time("control")
                judgement.find(
                    "misses the visit when the window is \(Int(seconds)) s", at: judgement.time("entry"),
                    isRemark: isRemark || seconds > 3 && delay > seconds - 1)
            })
    }
}
