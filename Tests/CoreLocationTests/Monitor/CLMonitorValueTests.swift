import Testing

@testable import CoreLocation

@Suite struct CLMonitorValueTests {
    private func stored<Condition: CLCondition>(_ condition: Condition) throws -> Condition {
        try JSONDecoder().decode(Condition.self, from: JSONEncoder().encode(condition))
    }

    @Test(
        "A beacon condition is stored with its values",
        arguments: [
            CLMonitor.BeaconIdentityCondition(uuid: deployment),
            CLMonitor.BeaconIdentityCondition(uuid: deployment, major: 0),
            CLMonitor.BeaconIdentityCondition(uuid: deployment, major: 1, minor: 65_535),
        ])
    func beaconConditionsAreStored(condition: CLMonitor.BeaconIdentityCondition) throws {
        let read = try stored(condition)
        #expect(read.uuid == condition.uuid)
        #expect(read.major == condition.major)
        #expect(read.minor == condition.minor)
    }

    @Test(
        "A damaged stored condition is rejected",
        arguments: [
            "{}", #"{"uuid":"x"}"#, #"{"uuid":"39ED98FF-2900-441A-802F-9C398FC199D2","minor":1}"#,
            #"{"uuid":"39ED98FF-2900-441A-802F-9C398FC199D2","major":65536}"#,
        ])
    func damagedConditionsAreRejected(text: String) {
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(CLMonitor.BeaconIdentityCondition.self, from: Data(text.utf8))
        }
    }

    @Test("A circular condition is stored")
    func circularConditionsAreStored() throws {
        let condition = CLMonitor.CircularGeographicCondition(
            center: CLLocationCoordinate2D(latitude: 1, longitude: 2), radius: 3)
        let read = try stored(condition)
        #expect(read.center.latitude == 1)
        #expect(read.center.longitude == 2)
        #expect(read.radius == 3)
    }

    @Test("Each diagnostic of an event has its own property")
    func diagnosticsOfAnEvent() {
        let plain = CLMonitor.Event(identifier: "a", state: .satisfied, date: .distantPast)
        #expect(plain.identifier == "a")
        #expect(plain.state == .satisfied)
        #expect(plain.refinement == nil)
        let properties: [(CLMonitor.Diagnostics, (CLMonitor.Event) -> Bool)] = [
            (.authorizationDenied, { $0.authorizationDenied }),
            (.authorizationDeniedGlobally, { $0.authorizationDeniedGlobally }),
            (.authorizationRestricted, { $0.authorizationRestricted }),
            (.insufficientlyInUse, { $0.insufficientlyInUse }),
            (.accuracyLimited, { $0.accuracyLimited }),
            (.conditionUnsupported, { $0.conditionUnsupported }),
            (.conditionLimitExceeded, { $0.conditionLimitExceeded }),
            (.persistenceUnavailable, { $0.persistenceUnavailable }),
            (.serviceSessionRequired, { $0.serviceSessionRequired }),
            (.authorizationRequestInProgress, { $0.authorizationRequestInProgress }),
        ]
        for (index, (diagnostics, _)) in properties.enumerated() {
            let event = CLMonitor.Event(
                identifier: "a", state: .unmonitored, date: .distantPast, diagnostics: diagnostics)
            for (other, (_, holds)) in properties.enumerated() {
                #expect(holds(event) == (index == other))
                #expect(!holds(plain))
            }
        }
    }

    @Test("A record has its event and its condition")
    func partsOfARecord() {
        let record = CLMonitor.Record(
            lastEvent: CLMonitor.Event(identifier: "a", state: .unknown, date: .distantPast),
            condition: CLMonitor.BeaconIdentityCondition(uuid: deployment))
        #expect(record.lastEvent.state == .unknown)
        #expect((record.condition as? CLMonitor.BeaconIdentityCondition)?.uuid == deployment)
    }
}
