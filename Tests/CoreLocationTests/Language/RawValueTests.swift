import CoreLocation
import Testing

/// The numbers in Apple's headers, which apps store and send.
@Suite struct RawValueTests {
    @Test("Proximities have Apple's raw values")
    func proximity() {
        let all: [CLProximity] = [.unknown, .immediate, .near, .far]
        #expect(all.map(\.rawValue) == [0, 1, 2, 3])
        #expect(all.map { CLProximity(rawValue: $0.rawValue) } == all)
        #expect(CLProximity(rawValue: 4) == nil)
        #expect("\(CLProximity.near)" == "near")
    }

    @Test("Region states have Apple's raw values")
    func regionState() {
        let all: [CLRegionState] = [.unknown, .inside, .outside]
        #expect(all.map(\.rawValue) == [0, 1, 2])
    }

    @Test("Authorization statuses have Apple's raw values")
    func authorizationStatus() {
        let all: [CLAuthorizationStatus] = [
            .notDetermined, .restricted, .denied, .authorizedAlways, .authorizedWhenInUse,
        ]
        let numbers: [Int32] = all.map(\.rawValue)
        #expect(numbers == [0, 1, 2, 3, 4])
        #expect(CLAuthorizationStatus.authorized == .authorizedAlways)
    }

    @Test("Accuracies have Apple's raw values")
    func accuracyAuthorization() {
        #expect(CLAccuracyAuthorization.fullAccuracy.rawValue == 0)
        #expect(CLAccuracyAuthorization.reducedAccuracy.rawValue == 1)
    }

    @Test("Activity types have Apple's raw values")
    func activityType() {
        let all: [CLActivityType] = [.other, .automotiveNavigation, .fitness, .otherNavigation, .airborne]
        #expect(all.map(\.rawValue) == [1, 2, 3, 4, 5])
    }

    @Test("Orientations have Apple's raw values")
    func deviceOrientation() {
        let all: [CLDeviceOrientation] = [
            .unknown, .portrait, .portraitUpsideDown, .landscapeLeft, .landscapeRight, .faceUp, .faceDown,
        ]
        let numbers: [Int32] = all.map(\.rawValue)
        #expect(numbers == [0, 1, 2, 3, 4, 5, 6])
    }

    @Test("Monitoring states have Apple's raw values")
    func monitoringState() {
        let all: [CLMonitor.Event.State] = [.unknown, .satisfied, .unsatisfied, .unmonitored]
        let numbers: [UInt] = all.map(\.rawValue)
        #expect(numbers == [0, 1, 2, 3])
    }

    @Test("Constants have Apple's values")
    func constants() {
        #expect(kCLLocationAccuracyBestForNavigation == -2)
        #expect(kCLLocationAccuracyBest == -1)
        #expect(kCLLocationAccuracyNearestTenMeters == 10)
        #expect(kCLLocationAccuracyHundredMeters == 100)
        #expect(kCLLocationAccuracyKilometer == 1000)
        #expect(kCLLocationAccuracyThreeKilometers == 3000)
        #expect(kCLLocationAccuracyReduced > kCLLocationAccuracyThreeKilometers)
        #expect(kCLDistanceFilterNone == -1)
        #expect(kCLHeadingFilterNone == -1)
        #expect(CLLocationDistanceMax == .greatestFiniteMagnitude)
        #expect(CLTimeIntervalMax == .greatestFiniteMagnitude)
        #expect(CLBeaconMajorValue.max == 65_535)
        #expect(CLBeaconMinorValue.max == 65_535)
    }

    @Test("A switch over all cases needs no default")
    func switchesNeedNoMore() {
        func word(_ state: CLRegionState) -> String {
            switch state {
            case .unknown: "unknown"
            case .inside: "inside"
            case .outside: "outside"
            }
        }
        func word(_ proximity: CLProximity) -> String {
            switch proximity {
            case .immediate: "immediate"
            case .near: "near"
            case .far: "far"
            case .unknown: "unknown"
            @unknown default: "new"
            }
        }
        #expect(word(.inside) == "inside")
        #expect(word(CLProximity.far) == "far")
    }
}
