import BeaconTestKit
import CoreLocation
import Observation

/// Apps that act on several beacons, or on several transmitters of one.
@MainActor
enum NeighborApps {
    static let all: [SampleApp] = [
        SampleApp(
            name: "ends the visit when one of two beacons leaves",
            findings: [8: "ends the visit while a beacon is near"]
        ) { AisleCounter($0, $2 ? nil : .leavesWithOne) },
        SampleApp(
            name: "stops ranging when one of two beacons leaves",
            findings: [8: "stops ranging while a beacon is near"], sharesTwin: true
        ) { AisleCounter($0, $2 ? nil : .stopsWithOne) },
        SampleApp(
            name: "greets whenever there are more beacons",
            findings: [7: "takes a second beacon for a new visit", 10: "takes a changed address for a new visit"],
            sharesTwin: true
        ) { AisleCounter($0, $2 ? nil : .greetsNewcomers) },
        SampleApp(
            name: "takes a second beacon for nothing", findings: [7: "takes the second beacon for nothing"]
        ) { ExhibitStore($0, $2 ? nil : .showsOne) },
        SampleApp(
            name: "takes a second transmitter for a departure", findings: [9: "flickers between two transmitters"],
            sharesTwin: true
        ) { ExhibitStore($0, $2 ? nil : .takesFarForGone) },
    ]
}

/// After RadiusNetworks/android-ibeacon-service#48: the number of beacons tells whether the visitor is there.
private final class AisleCounter: Ranger {
    enum Fault {
        /// Takes fewer beacons for a departure.
        case leavesWithOne
        /// Stops ranging at fewer beacons.
        case stopsWithOne
        /// Takes more beacons for an arrival.
        case greetsNewcomers
    }

    private let fault: Fault?
    private var count = 0

    init(_ outlet: Outlet, _ fault: Fault?) {
        self.fault = fault
        super.init(outlet, isFixed: fault == nil)
    }

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
        if now > count, count == 0 || fault == .greetsNewcomers { welcome("welcome to the aisles") }
        if fault == .stopsWithOne, now < count {
            manager.stopRangingBeacons(satisfying: beaconConstraint)
        } else if fault == .leavesWithOne ? now < count : count > 0 && now == 0 {
            goodbye("goodbye")
            count = 0
        } else {
            count = now
        }
    }
}

/// After RadiusNetworks/android-ibeacon-service#48: only the first exhibit of a visit is shown, or a far one ends.
@Observable
private final class ExhibitStore: Ranger {
    enum Fault {
        case showsOne
        /// Takes a far transmitter for the end of its exhibit, though another one of it is near.
        case takesFarForGone
    }

    private let fault: Fault?
    private(set) var exhibit: Int?
    @ObservationIgnored private var seen: Set<Int> = []

    init(_ outlet: Outlet, _ fault: Fault?) {
        self.fault = fault
        super.init(outlet, isFixed: fault == nil)
    }

    override func leave() {
        super.leave()
        exhibit = nil
        seen = []
    }

    override func locationManager(
        _ manager: CLLocationManager, didRange beacons: [CLBeacon],
        satisfying beaconConstraint: CLBeaconIdentityConstraint
    ) {
        if fault == .takesFarForGone {
            for beacon in beacons where beacon.proximity == .far { seen.remove(beacon.minor.intValue) }
        }
        guard let nearest = beacons.first, nearest.proximity == .near || nearest.proximity == .immediate else { return }
        if fault == .showsOne, exhibit != nil { return }
        exhibit = nearest.minor.intValue
        if seen.insert(nearest.minor.intValue).inserted { outlet.notify("about exhibit \(nearest.minor)") }
    }
}
