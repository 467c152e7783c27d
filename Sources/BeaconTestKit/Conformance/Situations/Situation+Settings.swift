internal import BeaconApplications
internal import BeaconModel
internal import BeaconMonitoring
import CoreLocation

extension Situation {
    /// An app that is itself a beacon, permissions, Bluetooth and limits.
    static let settings: [Situation] = [
        Situation(
            29, "beacon app", "A device that is a beacon starts without Bluetooth, and goes to the background.",
            expects: "it waits for powered on, and does not claim to send in the background",
            .init(.apple, "Turning an iOS device into an iBeacon device"),
            .init(.field, "juliansteenbakker/flutter_ble_peripheral#91"),
            .init(.field, "petermetz/cordova-plugin-ibeacon#404"), needs: [.advert],
            script: [
                .bluetooth(.poweredOff), .launch, .wait(10), .bluetooth(.poweredOn), .wait(20), .mark("on"),
                .mark("background"), .suspend, .mark("return"), .enterForeground, .wait(10),
            ],
            judge: { judgement in
                let transcript = judgement.transcript
                guard transcript.requests(at: judgement.time("on")).advertCount > 0 else {
                    judgement.find(
                        "starts to advertise before Bluetooth is powered on, and not again", at: judgement.time("on"))
                    return
                }
                let background = judgement.time("background")
                if transcript.requests(at: background + 25).advertCount > 0,
                    !transcript.hasOutput(from: background, to: judgement.time("return"))
                {
                    judgement.find(
                        "takes didStartAdvertising for sending: in the background, no beacon is sent", at: background,
                        isRemark: !judgement.facts.knowsScenes)
                }
                if transcript.requests.advertCount == 0 {
                    judgement.find("does not advertise again after its return", at: judgement.time("return"))
                }
            }),
        Situation(
            35, "when in use only", "The app has permission while in use, and the visitor comes in the background.",
            expects: "the app asks for always, or holds a background activity session",
            .init(.apple, "Choosing the location services authorization to request"),
            .init(.field, "kontaktio/kontakt-ios-sdk#52"), needs: [.beacons, .foregroundOnly],
            script: [.outside, .suspend, .mark("entry"), .place(1, at: 1), .wait(40)],
            judge: { judgement in
                // An app that reacts only while it ranges is one for the foreground.
                guard judgement.habits.notesAtEntry, judgement.arrivals(from: "entry").isEmpty else { return }
                judgement.find("relies on background events without always", at: judgement.time("entry"))
            }),
        Situation(
            36, "provisional always", "Always is provisional, and the user then keeps \"only while using\".",
            expects: "the app hears of the new status, and works in the foreground",
            .init(.apple, "What's new in Core Location, WWDC 2019/705"), needs: [.beacons, .background],
            script: [
                Step { $0.device.asksUser = true }, .start, .wait(1), .provisional, .wait(settling), .suspend,
                .mark("entry"), .place(1, at: 1), .wait(5), .authorize(.authorizedWhenInUse), .mark("answer"),
                .wait(20), .mark("return"), .enterForeground, .silence(1), .wait(90), .mark("again"), .place(1, at: 1),
                .wait(25),
            ],
            judge: { judgement in
                guard !judgement.habits.arrivals.isEmpty else { return }
                if judgement.arrivals(from: "again").isEmpty, !judgement.hasFinding(in: 1) {
                    judgement.find("stops for good when always became when in use", at: judgement.time("again"))
                } else if !judgement.transcript.hasOutput(
                    from: judgement.time("answer"), to: judgement.time("return") + 15)
                {
                    judgement.find(
                        "says nothing when always became when in use", at: judgement.time("answer"), isRemark: true)
                }
            }),
        Situation(
            37, "revoked and given back",
            "The user denies the permission while the app is suspended, and allows it later.",
            expects: "the app starts again", .init(.apple, "locationManagerDidChangeAuthorization(_:)"),
            .init(.field, "evothings/phonegap-estimotebeacons#77"),
            script: [
                .outside,
                Step { stage in
                    let before = stage.device.center.snapshot.authorization
                    await stage.suspend()
                    stage.authorize(.denied)
                    await stage.wait(20)
                    stage.mark("denied")
                    await stage.enterForeground()
                    await stage.wait(10)
                    stage.authorize(before == .whenInUse ? .authorizedWhenInUse : .authorizedAlways)
                }, .wait(settling), .mark("again"), .place(1, at: 1), .wait(25),
            ],
            judge: { judgement in
                guard !judgement.habits.arrivals.isEmpty, judgement.arrivals(from: "again").isEmpty,
                    !judgement.hasFinding(in: 1)
                else { return }
                judgement.find("does not start again when the permission is given back", at: judgement.time("again"))
            }),
        Situation(
            38, "reduced accuracy", "The user switches precise location off during a visit, and on again.",
            expects: "the app asks for full accuracy, or says what is missing",
            .init(.apple, "CLLocationManager.accuracyAuthorization"),
            script: [
                .outside, .place(1, at: 1), .wait(20), .mark("reduced"), .setAccuracy(.reducedAccuracy), .wait(30),
                .mark("full"), .setAccuracy(.fullAccuracy), .wait(15), .silence(1), .wait(90), .mark("again"),
                .place(1, at: 1), .wait(25),
            ],
            judge: { judgement in
                guard !judgement.habits.arrivals.isEmpty, !judgement.hasFinding(in: 1) else { return }
                if judgement.arrivals(from: "again").isEmpty {
                    judgement.find("does not start again when precise location is back", at: judgement.time("again"))
                } else if !judgement.transcript.hasOutput(from: judgement.time("reduced"), to: judgement.time("full")) {
                    judgement.find(
                        "waits for ever: precise location is off", at: judgement.time("reduced"), isRemark: true)
                }
            }),
        Situation(
            39, "Bluetooth", "Bluetooth is off at the start, then during a visit, then while the app is suspended.",
            expects: "no exit, and the app goes on when Bluetooth is back",
            .init(.field, "evothings/phonegap-estimotebeacons#77"),
            .init(.field, "petermetz/cordova-plugin-ibeacon#306"),
            script: [
                .bluetooth(.poweredOff), .launch, .wait(10), .bluetooth(.poweredOn), .wait(settling), .mark("entry"),
                .place(1, at: 1), .wait(25), .mark("off"), .bluetooth(.poweredOff), .wait(15), .mark("on"),
                .bluetooth(.poweredOn), .wait(20), .mark("later"), .suspend, .bluetooth(.poweredOff), .wait(10),
                .bluetooth(.poweredOn), .wait(10),
            ],
            judge: { judgement in
                guard !judgement.habits.arrivals.isEmpty || judgement.habits.rangesInVisit else { return }
                let transcript = judgement.transcript
                if !judgement.habits.arrivals.isEmpty, judgement.arrivals(from: "entry").isEmpty,
                    !judgement.hasFinding(in: 1)
                {
                    judgement.find("does not start when Bluetooth was off at the launch", at: judgement.time("entry"))
                } else if let goodbye = judgement.departures(from: "off", to: "on").first {
                    judgement.find("ends the visit when Bluetooth is off", at: goodbye.time)
                } else if judgement.habits.keepsRanging,
                    !transcript.requests(at: judgement.time("off")).ranged.isEmpty,
                    transcript.requests(at: judgement.time("later")).ranged.isEmpty
                {
                    judgement.find("does not range again when Bluetooth is back", at: judgement.time("on"))
                }
            }),
        Situation(
            40, "limits and capabilities",
            "Regions of an older version, a limit of 20 regions, no radio, no background mode.",
            expects: "the app stops old regions, handles monitoringDidFailFor, and has the capabilities that it uses",
            .init(.apple, "Region monitoring: 20 regions per app; allowsBackgroundLocationUpdates"),
            .init(.field, "MacKentoch/react-native-beacons-manager#88"),
            .init(.field, "petermetz/cordova-plugin-ibeacon#177"), needs: [],
            script: [
                .registerFormerRegions, .outside, .mark("started"), .end(by: .system), .bluetooth(.unsupported),
                .enterForeground, .wait(10),
            ],
            judge: { judgement in
                let transcript = judgement.transcript
                let started = judgement.time("started")
                let old = transcript.requests(at: started).regions.map(\.identifier).filter {
                    judgement.facts.formerRegions.contains($0)
                }
                if !old.isEmpty {
                    judgement.find("an old region is still monitored: \(old.joined(separator: ", "))", at: started)
                }
                let refused = transcript.sights(to: started) { sight in
                    if case .limitExceeded = sight { true } else { false }
                }
                if let first = refused.first, let last = refused.last,
                    !transcript.hasOutput(from: first, to: last + 5),
                    transcript.requests(at: first + 1).regions == transcript.requests(at: started).regions
                {
                    judgement.find("ignores that a region beyond 20 failed", at: first)
                }
                if transcript.wantsBackgroundUpdates, judgement.facts.hasBackgroundMode != true {
                    judgement.find(
                        "needs UIBackgroundModes: location, or iOS ends it for allowsBackgroundLocationUpdates", at: 0,
                        isRemark: judgement.facts.hasBackgroundMode == nil)
                }
            }),
    ]
}
