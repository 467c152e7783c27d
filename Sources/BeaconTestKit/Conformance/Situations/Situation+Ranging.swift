internal import BeaconModel
internal import BeaconMonitoring

extension Situation {
    /// A visit from outside, at 1 m.
    private static func visit(staying seconds: Double) -> Step {
        .all(.outside, .mark("beacon"), .place(1, at: 1), .wait(seconds))
    }

    /// A stay of two minutes at 3 m, between two marks.
    private static func noise(_ round: String) -> Step {
        .all(
            .place(1, at: 3), .wait(20), .mark("\(round) begin"), .wait(120), .mark("\(round) end"), .silence(1),
            .wait(60))
    }

    /// What ranging and monitoring report, and how often the app reacts.
    static let ranging: [Situation] = [
        Situation(
            9, "same identity twice", "Two transmitters have one identity, at 1 m and at 15 m.",
            expects: "the app takes the nearer one", .init(.apple, "Turning an iOS device into an iBeacon device"),
            script: [
                .outside, .mark("beacon"), .place(1, at: 1), .placeTwin(at: 15), .wait(15), .mark("steady"), .wait(60),
            ],
            judge: { judgement in
                guard judgement.canCount else { return }
                let notes = judgement.transcript.notes(from: "steady")
                if notes.count >= 4 {
                    judgement.find(
                        "flickers between two transmitters: \(notes.count) notes in a minute", at: notes[0].time)
                }
            }),
        Situation(
            10, "new address", "The beacon is a phone, which changes its address every minute.",
            expects: "no effect: the old address is unknown for some seconds, and the new one is near",
            .init(.apple, "Turning an iOS device into an iBeacon device"),
            script: [visit(staying: 30), .mark("change"), .repeated(3, .changeAddress, .wait(60))],
            judge: { judgement in
                guard judgement.canCount else { return }
                if let goodbye = judgement.departures(from: "change").first {
                    judgement.find("takes the unknown proximity of the old address for a departure", at: goodbye.time)
                } else if let again = judgement.repeatedArrivals(from: "change").first {
                    judgement.find("takes a changed address for a new visit", at: again.time)
                }
            }),
        Situation(
            11, "unknown proximity", "Two beacons vanish. For some seconds, ranging reports them as unknown.",
            expects: "unknown beacons, with accuracy -1, are ignored",
            .init(.apple, "CLBeacon.accuracy: a negative value means unknown"),
            .init(.field, "Estimote/iOS-Fleet-Management-SDK#33"),
            .init(.field, "presence-insights/pi-clientsdk-ios#7"),
            script: [
                .outside, .mark("beacon"), .place(1, at: 14), .wait(10), .place(2, at: 16), .wait(15), .mark("gone"),
                .silence(1), .wait(1), .silence(2), .wait(13),
            ],
            judge: { judgement in
                guard !judgement.habits.arrivals.isEmpty else { return }
                for note in judgement.arrivals(from: "gone") {
                    guard let report = judgement.transcript.report(at: note.time), !report.isEmpty,
                        report.allSatisfy({ $0 == .unknown })
                    else { continue }
                    judgement.find(
                        "takes a beacon of unknown proximity, with accuracy -1, for a near one: \"\(note.text)\"",
                        at: note.time)
                    return
                }
            }),
        Situation(
            12, "empty reports", "Ranging reports no beacon for 15 s, before the exit.",
            expects: "no crash, and no arrival", .init(.apple, "locationManager(_:didRange:satisfying:)"),
            script: [visit(staying: 15), .mark("gone"), .silence(1), .wait(28)],
            judge: { judgement in
                guard judgement.canCount else { return }
                for note in judgement.arrivals(from: "gone")
                where judgement.transcript.report(at: note.time)?.isEmpty == true {
                    judgement.find("notes \"\(note.text)\" while ranging reports no beacon", at: note.time)
                    return
                }
            }),
        Situation(
            13, "overlapping regions", "The app is launched a second time, and then the visitor comes.",
            expects: "one note, however many regions match the beacon",
            .init(.field, "presence-insights/pi-clientsdk-ios#34"),
            .init(.field, "petermetz/cordova-plugin-ibeacon#177"),
            script: [
                .launch, .wait(5), .end(by: .system), .enterForeground, .wait(settling), .mark("beacon"),
                .place(1, at: 1), .wait(25),
            ],
            judge: { judgement in
                guard judgement.canCount else { return }
                let entered = judgement.enteredRegions(from: "beacon")
                let most = Judgement.mostRepeated(judgement.arrivals(from: "beacon"))
                guard entered.count > 1, most.count > 1 else { return }
                judgement.find(
                    "greets once per region: \(entered.sorted().joined(separator: ", "))", at: most.times[1])
            }),
        Situation(
            14, "noise", "The signal of a beacon at 3 m varies by 5 dB, for two minutes, three times.",
            expects: "at most two changes a minute",
            .init(.guess, "two changes a minute are our choice"),
            script: [.outside, Step { $0.air.noise = 5 }, noise("first"), noise("second"), noise("third")],
            judge: { judgement in
                guard judgement.canCount else { return }
                for round in ["first", "second", "third"] {
                    let notes = judgement.transcript.notes(from: "\(round) begin", to: "\(round) end")
                    guard notes.count > 4 else { continue }
                    judgement.find(
                        "flickers: \(notes.count) notes in two minutes at one place", at: notes[0].time)
                    return
                }
            }),
        Situation(
            15, "a stay", "The visitor stands at 1 m for 90 s.", expects: "one note per change",
            .init(.field, "the recipe: notifying every second is network and battery intensive"),
            script: [visit(staying: 90)],
            judge: { judgement in
                let most = Judgement.mostRepeated(judgement.transcript.notes(from: "beacon"))
                guard most.count >= Judgement.eachSecond else { return }
                judgement.find("sends \"\(most.text)\" again and again: \(most.count) times in 90 s", at: most.times[1])
            }),
        Situation(
            16, "state and entry", "The system reports an arrival twice, as a state and as an entry.",
            expects: "one note", .init(.apple, "locationManager(_:didDetermineState:for:)"),
            .init(.field, "martijndeh/react-native-region-monitor#1"),
            script: [visit(staying: 20)],
            judge: { judgement in
                guard judgement.canCount, judgement.managerCount(from: "beacon") < 2,
                    judgement.enteredRegions(from: "beacon").count < 2
                else { return }
                let most = Judgement.mostRepeated(judgement.arrivals(from: "beacon"))
                guard most.count > 1 else { return }
                judgement.find("notifies twice: didDetermineState and didEnterRegion", at: most.times[1])
            }),
        Situation(
            17, "two managers", "The system calls each manager of the app.", expects: "one note",
            .init(.apple, "CLLocationManager: events go to every manager's delegate"),
            script: [visit(staying: 20)],
            judge: { judgement in
                guard judgement.canCount, judgement.managerCount(from: "beacon") > 1 else { return }
                let most = Judgement.mostRepeated(judgement.arrivals(from: "beacon"))
                guard most.count > 1 else { return }
                judgement.find("notifies once per manager", at: most.times[1])
            }),
    ]
}

extension Judgement {
    /// The regions that were entered after a mark.
    fileprivate func enteredRegions(from mark: String) -> Set<String> {
        Set(entries(from: mark))
    }

    /// How many managers received the same entry.
    fileprivate func managerCount(from mark: String) -> Int {
        Dictionary(grouping: entries(from: mark)) { $0 }.values.map(\.count).max() ?? 0
    }

    private func entries(from mark: String) -> [String] {
        transcript.entries.compactMap { entry in
            guard entry.time >= time(mark), case .saw(.entered(let region)) = entry.content else { return nil }
            return region
        }
    }
}
