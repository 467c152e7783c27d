internal import BeaconModel
internal import BeaconMonitoring

extension Situation {
    /// The time in seconds until a region without a beacon counts as outside, with a reserve.
    static let settling = 40.0

    /// Visits in the foreground.
    static let visits: [Situation] = [
        Situation(
            1, "walk in", "The visitor comes from outside and stays at 1 m.", expects: "one note of the arrival",
            .init(.apple, "Determining the proximity to an iBeacon device"), needs: [],
            script: [.outside, .mark("beacon"), .place(1, at: 20), .walk(1, to: 1, in: 20), .wait(20)],
            judge: { judgement in
                let (transcript, habits) = (judgement.transcript, judgement.habits)
                guard habits.listens else { return }
                let isSeen = !transcript.presenceSights(from: judgement.time("beacon")).isEmpty
                if !isSeen {
                    let isAlive = transcript.requests.clientCount > 0
                    judgement.find(
                        isAlive
                            ? "receives nothing: no delegate or task waits for the events"
                            : "receives nothing: its manager was released", at: judgement.time("beacon"))
                } else if habits.arrivals.isEmpty, habits.notesAnything {
                    // An app may only say goodbye, or only notice a beacon that it almost touches.
                    judgement.find(
                        "does not notice the visit", at: judgement.time("beacon"), isRemark: habits.notesVisits)
                }
            }),
        Situation(
            2, "start inside", "The visitor launches the app beside a beacon.",
            expects: "one note of the arrival, from the region's state",
            .init(.field, "petermetz/cordova-plugin-ibeacon#169"),
            .init(.field, "MacKentoch/react-native-beacons-manager#132"),
            .init(.field, "the recipe's comment on didDetermineState"),
            script: [.mark("launch"), .place(1, at: 1), .launch, .wait(30)],
            judge: { judgement in
                guard !judgement.habits.arrivals.isEmpty, judgement.arrivals(from: "launch").isEmpty else { return }
                judgement.find(
                    "waits for didEnterRegion, which does not come if the visitor is inside at the start",
                    at: judgement.time("launch"))
            }),
        Situation(
            3, "walk out", "The visitor leaves after 20 s.", expects: "the end of ranging, and of the visit",
            .init(.apple, "Determining the proximity to an iBeacon device"),
            script: [.outside, .mark("beacon"), .place(1, at: 1), .wait(20), .mark("gone"), .silence(1), .wait(90)],
            judge: { judgement in
                let transcript = judgement.transcript
                guard judgement.habits.rangesInVisit, !transcript.requests.ranged.isEmpty else { return }
                judgement.find("goes on ranging after the exit", at: judgement.time("gone") + 90)
            }),
        Situation(
            4, "pass by", "A beacon is heard for 8 s.", expects: "at most one note, and the end of the visit",
            .init(.apple, "Determining the proximity to an iBeacon device"),
            script: [.outside, .mark("beacon"), .place(1, at: 2), .wait(8), .mark("gone"), .silence(1), .wait(90)],
            judge: { judgement in
                let habits = judgement.habits
                let came = judgement.arrivals(from: "beacon")
                if !habits.departures.isEmpty, !came.isEmpty, judgement.departures(from: "beacon").isEmpty {
                    // An app may say goodbye after a long visit only, but then it has stopped ranging.
                    let isRanging = habits.rangesInVisit && !judgement.transcript.requests.ranged.isEmpty
                    judgement.find("the visit never ends", at: judgement.time("gone") + 90, isRemark: !isRanging)
                }
                if judgement.canCount, let late = came.first(where: { $0.time > judgement.time("gone") + 12 }) {
                    judgement.find("notes \"\(late.text)\" after the visitor has left", at: late.time)
                }
            }),
        Situation(
            5, "at the border", "A beacon is heard for 10 s and not for 25 s, six times.", expects: "one visit",
            .init(.field, "owntracks/ios#537"), .init(.field, "home-assistant/iOS#461"),
            script: [.outside, .mark("beacon"), .repeated(6, .place(1, at: 2), .wait(10), .silence(1), .wait(25))],
            judge: { judgement in
                guard judgement.canCount else { return }
                let came = Judgement.mostRepeated(judgement.arrivals(from: "beacon"))
                guard came.count >= 3 else { return }
                // An app that only shows what is near now may say it again. One that also says goodbye ends the visit.
                let isVisit = judgement.departures(from: "beacon").count >= 2
                judgement.find(
                    "a new visit for each gap: notes \"\(came.text)\" \(came.count) times", at: came.times[1],
                    isRemark: !isVisit)
            }),
        Situation(
            6, "false exit", "A beacon is not heard for 35 s, and then again.",
            expects: "no second greeting within a minute", .init(.field, "owntracks/ios#537"),
            .init(.field, "home-assistant/iOS#461"),
            script: [
                .outside, .place(1, at: 1), .wait(30), .mark("gap"), .silence(1), .wait(35), .mark("back"),
                .place(1, at: 1), .wait(50),
            ],
            judge: { judgement in
                guard judgement.canCount, let again = judgement.repeatedArrivals(from: "back").first else { return }
                // Most apps greet at each entry. Saying goodbye first shows that the app took the gap for a departure.
                let hasLeft = !judgement.departures(from: "gap").isEmpty
                judgement.find("greets again after a short exit", at: again.time, isRemark: !hasLeft)
            }),
        Situation(
            7, "second beacon", "Another beacon of the region comes nearer than the first.",
            expects: "ranging notices it; no new visit", .init(.field, "RadiusNetworks/android-ibeacon-service#48"),
            needs: [.beacons, .secondBeacon],
            script: [
                .outside, .mark("second alone"), .place(2, at: 1), .wait(20), .mark("second gone"), .silence(2),
                .wait(90), .mark("first"), .place(1, at: 3), .wait(20), .mark("both"), .place(2, at: 0.4), .wait(30),
            ],
            judge: { judgement in
                let (habits, transcript) = (judgement.habits, judgement.transcript)
                guard judgement.canCount else { return }
                let common = habits.arrivals.intersection(habits.secondArrivals)
                let stay = Set(transcript.notes(from: "first", to: "both").map(\.text))
                if let again = transcript.notes(from: "both").first(where: {
                    common.contains($0.text) && stay.contains($0.text)
                }) {
                    judgement.find("takes a second beacon for a new visit", at: again.time)
                }
                let special = habits.secondArrivals.subtracting(habits.arrivals)
                // The text may differ, since the second beacon is at another distance here.
                if !special.isEmpty, !transcript.requests.ranged.isEmpty, transcript.notes(from: "both").isEmpty {
                    judgement.find("takes the second beacon for nothing", at: judgement.time("both"))
                }
            }),
        Situation(
            8, "one of two leaves", "Two beacons of a region are near, and the farther one vanishes.",
            expects: "the visit goes on", .init(.field, "RadiusNetworks/android-ibeacon-service#48"),
            needs: [.beacons, .secondBeacon],
            script: [.outside, .place(1, at: 2), .place(2, at: 0.8), .wait(20), .mark("one"), .silence(1), .wait(60)],
            judge: { judgement in
                if let goodbye = judgement.departures(from: "one").first {
                    judgement.find("ends the visit while a beacon is near", at: goodbye.time)
                } else if judgement.habits.keepsRanging,
                    !judgement.transcript.requests(at: judgement.time("one")).ranged.isEmpty,
                    judgement.transcript.requests.ranged.isEmpty
                {
                    judgement.find("stops ranging while a beacon is near", at: judgement.time("one"))
                }
            }),
    ]
}
