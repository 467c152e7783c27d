import BeaconTestKit
import CoreLocation
import Testing

/// The requests that an app can make and stop, as one matrix.
@Suite("A stopped request delivers nothing")
@MainActor
struct StoppedRequestTests {
    /// A request, how to stop it, and its immediate callbacks, for each state of permission and radio.
    struct Request: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var start: @MainActor @Sendable (CLLocationManager) -> Void
        var stop: @MainActor @Sendable (CLLocationManager) -> Void
        /// The text in a diary.
        var answer: @Sendable (Situation) -> String?
    }

    enum Situation: CaseIterable, Sendable {
        case works, off, denied, restricted, undecided

        var authorization: CLAuthorizationStatus {
            switch self {
            case .works, .off: .authorizedAlways
            case .denied: .denied
            case .restricted: .restricted
            case .undecided: .notDetermined
            }
        }

        var isRefused: Bool { self == .denied || self == .restricted }
    }

    nonisolated static let requests: [Request] = [
        Request(
            testDescription: "monitoring",
            start: { $0.startMonitoring(for: CLBeaconRegion(uuid: museum, identifier: "museum")) },
            stop: { $0.stopMonitoring(for: CLBeaconRegion(uuid: museum, identifier: "museum")) },
            answer: { $0.isRefused ? "failed museum 4" : "started museum" }),
        Request(
            testDescription: "monitoring a circle",
            start: { $0.startMonitoring(for: circle) }, stop: { $0.stopMonitoring(for: circle) },
            answer: { $0.isRefused ? "failed circle 4" : "failed circle 5" }),
        Request(
            testDescription: "monitoring a region without an identity",
            start: { $0.startMonitoring(for: CLBeaconRegion()) }, stop: { $0.stopMonitoring(for: CLBeaconRegion()) },
            answer: { $0.isRefused ? "failed  4" : "failed  5" }),
        Request(
            testDescription: "ranging",
            start: { $0.startRangingBeacons(satisfying: CLBeaconIdentityConstraint(uuid: museum)) },
            stop: { $0.stopRangingBeacons(satisfying: CLBeaconIdentityConstraint(uuid: museum)) },
            answer: { $0.isRefused ? "ranging failed 1" : $0 == .off ? "ranging failed 16" : nil }),
        Request(
            testDescription: "ranging in a region",
            start: { $0.startRangingBeacons(in: CLBeaconRegion(uuid: museum, identifier: "museum")) },
            stop: { $0.stopRangingBeacons(in: CLBeaconRegion(uuid: museum, identifier: "museum")) },
            answer: {
                $0.isRefused
                    ? "ranging in museum failed 1" : $0 == .off ? "ranging in museum failed 16" : nil
            }),
        Request(
            testDescription: "ranging in a region without an identity",
            start: { $0.startRangingBeacons(in: CLBeaconRegion()) },
            stop: { $0.stopRangingBeacons(in: CLBeaconRegion()) }, answer: { _ in "ranging in  failed 17" }),
        Request(
            testDescription: "positions", start: { $0.startUpdatingLocation() }, stop: { $0.stopUpdatingLocation() },
            answer: position),
        Request(
            testDescription: "one position", start: { $0.requestLocation() }, stop: { $0.stopUpdatingLocation() },
            answer: position),
        Request(
            testDescription: "large changes", start: { $0.startMonitoringSignificantLocationChanges() },
            stop: { $0.stopMonitoringSignificantLocationChanges() }, answer: position),
        Request(
            testDescription: "visits", start: { $0.startMonitoringVisits() }, stop: { $0.stopMonitoringVisits() },
            answer: position),
        Request(
            testDescription: "headings", start: { $0.startUpdatingHeading() }, stop: { $0.stopUpdatingHeading() },
            answer: { _ in "error 3" }),
    ]

    nonisolated private static let circle = CLCircularRegion(
        center: CLLocationCoordinate2D(latitude: 51, longitude: 7), radius: 200, identifier: "circle")

    nonisolated private static let position: @Sendable (Situation) -> String? = {
        $0.isRefused ? "error 1" : $0 == .undecided ? nil : "error 0"
    }

    private func diary(_ situation: Situation) async -> (SimulatedAir, Diary) {
        let air = SimulatedAir(authorization: situation.authorization)
        if situation == .off { air.device.setBluetooth(isOn: false) }
        let diary = Diary(air)
        await air.advance(by: .milliseconds(500))
        _ = diary.take()
        return (air, diary)
    }

    @Test(
        "Each request fails with the error for the state of permission and radio", arguments: requests,
        Situation.allCases)
    func answers(_ request: Request, in situation: Situation) async {
        let (air, diary) = await diary(situation)
        request.start(diary.manager)
        await air.settle()
        #expect(diary.take() == (request.answer(situation).map { ["0.5 \($0)"] } ?? []))
    }

    @Test("Started and stopped in one turn, a request causes no callback", arguments: requests, Situation.allCases)
    func stopped(_ request: Request, in situation: Situation) async {
        let (air, diary) = await diary(situation)
        air.place(.exhibit(1, at: 2))
        for _ in 0..<3 {
            request.start(diary.manager)
            request.stop(diary.manager)
        }
        await air.advance(by: .seconds(5))
        if situation == .undecided {
            diary.manager.requestAlwaysAuthorization()
            await air.advance(by: .seconds(5))
        }
        #expect(diary.take().filter { !$0.contains("authorization") } == [])
    }

    @Test("Started, stopped and started in one turn, a request has one answer", arguments: requests, Situation.allCases)
    func startedAgain(_ request: Request, in situation: Situation) async {
        let (air, diary) = await diary(situation)
        for _ in 0..<3 {
            request.start(diary.manager)
            request.stop(diary.manager)
        }
        request.start(diary.manager)
        await air.settle()
        #expect(diary.take() == (request.answer(situation).map { ["0.5 \($0)"] } ?? []))
    }

    @Test("A request that waited for a decision is answered by it", arguments: requests, [false, true])
    func decided(_ request: Request, isGranted: Bool) async {
        let (air, diary) = await diary(.undecided)
        request.start(diary.manager)
        await air.settle()
        let early = diary.take()
        air.device.authorize(isGranted ? .authorizedAlways : .denied)
        await air.settle()
        let late = diary.take().filter { !$0.contains("authorization") }
        let answer = request.answer(isGranted ? .works : .denied).map { ["0.5 \($0)"] } ?? []
        // An answer is not repeated, and a request that no permission can fulfil is answered at once.
        #expect(
            late == (early == answer || early.contains { $0.contains("circle") || $0.contains("  ") } ? [] : answer))
    }

    @Test("Ranging that is stopped and started again reports nothing from the first request")
    func ranging() async {
        let (air, diary) = await diary(.works)
        let constraint = CLBeaconIdentityConstraint(uuid: museum)
        air.place(.exhibit(1, at: 2))
        diary.manager.startRangingBeacons(satisfying: constraint)
        await air.advance(by: .seconds(2))
        var isStopped = false
        diary.onRange = { _ in
            guard !isStopped else { return }
            isStopped = true
            for _ in 0..<3 {
                diary.manager.stopRangingBeacons(satisfying: constraint)
                diary.manager.startRangingBeacons(satisfying: constraint)
            }
        }
        _ = diary.take()
        await air.advance(by: .seconds(2))
        #expect(diary.take().count == 2)
    }

    @Test("A requested state is delivered for each standard region, monitored or not")
    func requestedStates() async {
        let (air, diary) = await diary(.works)
        let region = CLBeaconRegion(uuid: museum, identifier: "museum")
        diary.manager.requestState(for: region)
        diary.manager.requestState(for: Self.circle)
        // Apple documents that nothing happens for other regions.
        diary.manager.requestState(for: CLRegion())
        await air.settle()
        #expect(diary.take().sorted() == ["0.5 circle unknown", "0.5 museum unknown"])
        diary.manager.requestState(for: region)
        diary.manager.stopMonitoring(for: region)
        await air.settle()
        #expect(diary.take() == [])
    }
}
