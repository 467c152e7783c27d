import BeaconCombine
import BeaconTestKit
import CoreLocation
import Observation

/// Apps that act on ranging reports.
@MainActor
enum RangingApps {
    static let all: [SampleApp] = [
        SampleApp(name: "never stops ranging", situations: [3]) { EndlessRanger($0, isFixed: $2) },
        SampleApp(name: "takes accuracy -1 for nearest", situations: [11]) { NearestShelf($0, isFixed: $2) },
        SampleApp(name: "sends the first of unknown beacons", situations: [11]) { FirstBeaconSender($0, isFixed: $2) },
        SampleApp(name: "sends each second", situations: [15]) { ProximitySender($0, isFixed: $2) },
        SampleApp(name: "flickers at a border", situations: [14]) { ZoneStore($0, isFixed: $2) },
        SampleApp(name: "takes an old address for a departure", situations: [10]) { PhoneTracker($0, isFixed: $2) },
        SampleApp(name: "ends the visit when one of two beacons leaves", situations: [8]) {
            AisleCounter($0, isFixed: $2)
        },
        SampleApp(name: "takes a second beacon for nothing", situations: [7]) { ExhibitStore($0, isFixed: $2) },
    ]
}

/// An app that ranges from the arrival to the exit, for others to build on.
private class Ranger: NSObject, CLLocationManagerDelegate {
    let manager = CLLocationManager()
    let outlet: Outlet
    let isFixed: Bool

    init(_ outlet: Outlet, isFixed: Bool) {
        (self.outlet, self.isFixed) = (outlet, isFixed)
        super.init()
        manager.delegate = self
        manager.requestAlwaysAuthorization()
        manager.startMonitoring(for: shopRegion)
    }

    func locationManager(_ manager: CLLocationManager, didDetermineState state: CLRegionState, for region: CLRegion) {
        switch state {
        case .inside: manager.startRangingBeacons(satisfying: shopRegion.beaconIdentityConstraint)
        case .outside: leave()
        default: break
        }
    }

    func leave() { manager.stopRangingBeacons(satisfying: shopRegion.beaconIdentityConstraint) }

    private var lastGoodbye = Date.distantPast

    /// Says goodbye.
    func goodbye(_ text: String) {
        lastGoodbye = Date()
        outlet.notify(text)
    }

    /// Welcomes the visitor, but not after a loss of the signal.
    func welcome(_ text: String) {
        if !isFixed || Date().timeIntervalSince(lastGoodbye) > 60 { outlet.notify(text) }
    }

    func locationManager(
        _ manager: CLLocationManager, didRange beacons: [CLBeacon],
        satisfying beaconConstraint: CLBeaconIdentityConstraint
    ) {}
}

/// After petermetz/cordova-plugin-ibeacon#289: ranging goes on after the exit.
private final class EndlessRanger: Ranger {
    private var isWelcome = false

    override func leave() {
        isWelcome = false
        if isFixed { super.leave() }
    }

    override func locationManager(
        _ manager: CLLocationManager, didRange beacons: [CLBeacon],
        satisfying beaconConstraint: CLBeaconIdentityConstraint
    ) {
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

/// After RadiusNetworks/android-ibeacon-service#48: fewer beacons than before mean that the visitor is gone.
private final class AisleCounter: Ranger {
    private var count = 0

    override func leave() {
        super.leave()
        if count > 0 { goodbye("goodbye") }
        count = 0
    }

    override func locationManager(
        _ manager: CLLocationManager, didRange beacons: [CLBeacon],
        satisfying beaconConstraint: CLBeaconIdentityConstraint
    ) {
        let now = beacons.count
        if count == 0, now > 0 { welcome("welcome to the aisles") }
        if isFixed ? count > 0 && now == 0 : now < count {
            goodbye("goodbye")
            count = 0
        } else {
            count = now
        }
    }
}

/// After RadiusNetworks/android-ibeacon-service#48: only the first exhibit of a visit is shown.
@Observable
private final class ExhibitStore: Ranger {
    private(set) var exhibit: Int?
    @ObservationIgnored private var seen: Set<Int> = []

    override func leave() {
        super.leave()
        exhibit = nil
        seen = []
    }

    override func locationManager(
        _ manager: CLLocationManager, didRange beacons: [CLBeacon],
        satisfying beaconConstraint: CLBeaconIdentityConstraint
    ) {
        guard let nearest = beacons.first, nearest.proximity == .near || nearest.proximity == .immediate else { return }
        if !isFixed, exhibit != nil { return }
        exhibit = nearest.minor.intValue
        if seen.insert(nearest.minor.intValue).inserted { outlet.notify("about exhibit \(nearest.minor)") }
    }
}
