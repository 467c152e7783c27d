import BeaconCombine
import BeaconTestKit
import CoreLocation
import Observation

/// Apps that act on ranging reports.
@MainActor
enum RangingApps {
    static let all: [SampleApp] = [
        SampleApp(
            name: "never stops ranging", findings: [3: "goes on ranging after the exit"],
            remarks: [19: "misses the visit if the system suspends at once", 23: "cannot notice"]
        ) { NearRanger($0, $2 ? .right : .rangesOn) },
        SampleApp(
            name: "takes an empty report for a beacon",
            findings: [12: "notes \"a beacon is near\" while ranging reports no beacon"], sharesTwin: true
        ) { NearRanger($0, $2 ? .right : .takesNothingForNear) },
        savingRanger(seconds: 3, findings: [21: "misses the visit when the window is 10 s"]),
        savingRanger(seconds: 12, remarks: [22: "misses the visit when the window is 30 s"]),
        SampleApp(name: "takes accuracy -1 for nearest", findings: [11: "takes a beacon of unknown proximity"]) {
            NearestShelf($0, isFixed: $2)
        },
        SampleApp(
            name: "sends the first of unknown beacons", findings: [11: "takes a beacon of unknown proximity"],
            remarks: [5: "a new visit for each gap"]
        ) { FirstBeaconSender($0, isFixed: $2) },
        SampleApp(name: "sends each second", findings: [15: "sends \"proximity 2\" again and again"]) {
            ProximitySender($0, isFixed: $2)
        },
        SampleApp(name: "flickers at a border", findings: [14: "flickers: "]) { ZoneStore($0, isFixed: $2) },
        SampleApp(
            name: "takes an old address for a departure",
            findings: [10: "takes the unknown proximity of the old address", 5: "a new visit for each gap"]
        ) { PhoneTracker($0, isFixed: $2) },
    ]

    /// An app that ranges for some seconds in the background, though its window is longer.
    private static func savingRanger(
        seconds: Int, findings: [Int: String] = [:], remarks: [Int: String] = [:]
    ) -> SampleApp {
        SampleApp(
            name: "ranges for \(seconds) s in the background", findings: findings, remarks: remarks, sharesTwin: true,
            scene: { app, isActive in (app as? NearRanger)?.isActive = isActive }
        ) { NearRanger($0, $2 ? .right : .savesPower(seconds: seconds)) }
    }
}

/// After petermetz/cordova-plugin-ibeacon#289, where ranging goes on after the exit, and other ways to range.
final class NearRanger: Ranger {
    enum Way: Equatable {
        case right
        /// Ranges for some seconds of a visit.
        case brief(seconds: Int)
        /// Ranges for some seconds in the background.
        case savesPower(seconds: Int)
        case rangesOn
        /// Asks whether the first beacon is known, which no beacon is not unknown either.
        case takesNothingForNear
    }

    private let way: Way
    /// True while the app is in the foreground.
    var isActive = false
    private var isWelcome = false
    private var reportCount = 0

    init(_ outlet: Outlet, _ way: Way) {
        self.way = way
        super.init(outlet, isFixed: way == .right)
    }

    override func leave() {
        isWelcome = false
        reportCount = 0
        if way != .rangesOn { super.leave() }
    }

    override func locationManager(
        _ manager: CLLocationManager, didRange beacons: [CLBeacon],
        satisfying beaconConstraint: CLBeaconIdentityConstraint
    ) {
        reportCount += 1
        switch way {
        case .brief(let seconds),
            .savesPower(let seconds) where !isActive:
            if reportCount > seconds { super.leave() }
        case .takesNothingForNear:
            let isNear = beacons.first?.proximity != .unknown
            if isNear, !isWelcome { outlet.notify("a beacon is near") }
            isWelcome = isNear
            return
        default: break
        }
        guard !isWelcome, beacons.contains(where: { $0.proximity == .near || $0.proximity == .immediate }) else {
            return
        }
        isWelcome = true
        outlet.notify("a beacon is near")
    }
}

/// After Estimote/iOS-Fleet-Management-SDK#33: -1 is less than two meters.
private final class NearestShelf: Ranger {
    private var shelf: Int?

    override func leave() {
        super.leave()
        shelf = nil
    }

    override func locationManager(
        _ manager: CLLocationManager, didRange beacons: [CLBeacon],
        satisfying beaconConstraint: CLBeaconIdentityConstraint
    ) {
        let known = isFixed ? beacons.filter { $0.accuracy >= 0 } : beacons
        guard let nearest = known.min(by: { $0.accuracy < $1.accuracy }), nearest.accuracy < 2,
            nearest.minor.intValue != shelf
        else { return }
        shelf = nearest.minor.intValue
        outlet.notify("shelf \(nearest.minor)")
    }
}

/// After presence-insights/pi-clientsdk-ios#7: any change of the first beacon is sent, known or not.
private final class FirstBeaconSender: Ranger {
    private var sent = ""

    override func leave() {
        super.leave()
        sent = ""
    }

    override func locationManager(
        _ manager: CLLocationManager, didRange beacons: [CLBeacon],
        satisfying beaconConstraint: CLBeaconIdentityConstraint
    ) {
        let wanted = isFixed ? beacons.filter { $0.proximity != .unknown } : beacons
        guard let first = wanted.first else { return }
        let key = isFixed ? "\(first.minor)" : "\(first.minor) \(first.proximity == .unknown)"
        guard key != sent else { return }
        sent = key
        outlet.notify("presence at \(first.minor)")
    }
}

/// After the recipe's warning, with Combine: each report becomes a message.
private final class ProximitySender: Ranger {
    private let reports = PassthroughSubject<CLProximity, Never>()
    private var subscription: AnyCancellable?

    override init(_ outlet: Outlet, isFixed: Bool) {
        super.init(outlet, isFixed: isFixed)
        let changes = isFixed ? reports.removeDuplicates().eraseToAnyPublisher() : reports.eraseToAnyPublisher()
        subscription = changes.filter { $0 != .unknown }.sink { outlet.notify("proximity \($0.rawValue)") }
    }

    override func leave() {
        super.leave()
        reports.send(.unknown)
    }

    override func locationManager(
        _ manager: CLLocationManager, didRange beacons: [CLBeacon],
        satisfying beaconConstraint: CLBeaconIdentityConstraint
    ) {
        if let first = beacons.first { reports.send(first.proximity) }
    }
}

/// A zone ends at three meters sharp, and each reading decides. The twin's zone is wider for those who are in it.
@Observable
private final class ZoneStore: Ranger {
    private(set) var isInZone = false

    override func leave() {
        super.leave()
        if isInZone { goodbye("out of the zone") }
        isInZone = false
    }

    override func locationManager(
        _ manager: CLLocationManager, didRange beacons: [CLBeacon],
        satisfying beaconConstraint: CLBeaconIdentityConstraint
    ) {
        guard let beacon = beacons.first, beacon.rssi != 0 else { return }
        // The estimate of the newest second, as an app makes it from the signal.
        let distance = pow(10, (-59 - Double(beacon.rssi)) / 17.5)
        let isNear = distance < (isFixed && isInZone ? 9 : 3)
        guard isNear != isInZone else { return }
        isInZone = isNear
        isNear ? welcome("in the zone") : goodbye("out of the zone")
    }
}

/// After the note in Apple's article: for some seconds, the old address of a phone is a second, unknown beacon.
private final class PhoneTracker: Ranger {
    private var isNear = false

    override func leave() {
        super.leave()
        if isNear { goodbye("the guide has left") }
        isNear = false
    }

    override func locationManager(
        _ manager: CLLocationManager, didRange beacons: [CLBeacon],
        satisfying beaconConstraint: CLBeaconIdentityConstraint
    ) {
        let near = beacons.filter { $0.proximity == .near || $0.proximity == .immediate }
        let isLost = isFixed ? near.isEmpty && !beacons.isEmpty : beacons.contains { $0.proximity == .unknown }
        if isNear, isLost {
            isNear = false
            goodbye("the guide has left")
        } else if !isNear, !near.isEmpty, !isLost {
            isNear = true
            welcome("the guide is here")
        }
    }
}
