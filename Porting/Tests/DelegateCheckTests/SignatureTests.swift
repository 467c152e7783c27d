import DelegateCheck
import Testing

@Suite("Callbacks with a similar signature")
struct SignatureTests {
    @Test("Similar signatures are found, and others are not", arguments: wrong + misnamed + others + right + notOurs)
    func signature(_ example: Example) {
        let findings = DelegateCheck.findings(in: [SourceText(path: "a.swift", text: example.source)])
        #expect(findings.map { "\($0.line) \($0.kind.rawValue)" } == example.expected, "\(findings.map(\.description))")
    }

    @Test("The finding has the place, the difference and the declaration to write")
    func message() throws {
        let example = Example.member("", "func locationManager(_ m: CLLocationManager, didEnterRegion r: CLRegion!) {}")
        let finding = try #require(
            DelegateCheck.findings(in: [SourceText(path: "a.swift", text: example.source)]).first)
        #expect(
            finding.description
                == "a.swift:2:5: warning: 'locationManager(_:didEnterRegion:)' is nearly a method of "
                + "CLLocationManagerDelegate and is never called on Linux: 'r' is 'CLRegion!' and not 'CLRegion'; write "
                + "'func locationManager(_ manager: CLLocationManager, didEnterRegion region: CLRegion)'")
        #expect(
            finding.replacement == "func locationManager(_ manager: CLLocationManager, didEnterRegion region: CLRegion)"
        )
    }

    /// Right names with wrong types or effects.
    static let wrong: [Example] = [
        .member(
            "implicitly unwrapped manager",
            "func locationManager(_ m: CLLocationManager!, didExitRegion r: CLRegion) {}", finds: "2 signature"),
        .member(
            "optional region", "func locationManager(_ m: CLLocationManager, didExitRegion r: CLRegion?) {}",
            finds: "2 signature"),
        .member(
            "optional beacons",
            "func locationManager(_ m: CLLocationManager, didRangeBeacons b: [CLBeacon]?, in r: CLBeaconRegion) {}",
            finds: "2 signature"),
        .member(
            "beacons as NSArray",
            "func locationManager(_ m: CLLocationManager, didRangeBeacons b: NSArray, in r: CLBeaconRegion) {}",
            finds: "2 signature"),
        .member(
            "beacons as AnyObject",
            "func locationManager(_ m: CLLocationManager, didRangeBeacons b: [AnyObject], in r: CLBeaconRegion) {}",
            finds: "2 signature"),
        .member(
            "implicitly unwrapped instead of optional",
            """
            func locationManager(
                    _ m: CLLocationManager, monitoringDidFailFor r: CLRegion!, withError e: Error) {}
            """, finds: "2 signature"),
        .member(
            "region that is not optional but should be",
            "func locationManager(_ m: CLLocationManager, monitoringDidFailFor r: CLRegion, withError e: Error) {}",
            finds: "2 signature"),
        .member(
            "NSError", "func locationManager(_ m: CLLocationManager, didFailWithError error: NSError) {}",
            finds: "2 signature"),
        .member(
            "narrower region",
            "func locationManager(_ m: CLLocationManager, didEnterRegion region: CLBeaconRegion) {}",
            finds: "2 signature"),
        .member(
            "wider region", "func locationManager(_ m: CLLocationManager, didEnterRegion region: Any) {}",
            finds: "2 signature"),
        .member(
            "result", "func locationManager(_ m: CLLocationManager, didEnterRegion r: CLRegion) -> Bool { true }",
            finds: "2 signature"),
        .member(
            "no result", "func locationManagerShouldDisplayHeadingCalibration(_ m: CLLocationManager) {}",
            finds: "2 signature"),
        .member(
            "async", "func locationManager(_ m: CLLocationManager, didEnterRegion r: CLRegion) async {}",
            finds: "2 signature"),
        .member(
            "throws", "func locationManager(_ m: CLLocationManager, didEnterRegion r: CLRegion) throws {}",
            finds: "2 signature"),
        .member(
            "static", "static func locationManager(_ m: CLLocationManager, didEnterRegion r: CLRegion) {}",
            finds: "2 signature"),
        .member(
            "class method", "class func locationManager(_ m: CLLocationManager, didEnterRegion r: CLRegion) {}",
            finds: "2 signature"),
        .member(
            "generic", "func locationManager<R: CLRegion>(_ m: CLLocationManager, didEnterRegion r: R) {}",
            finds: "2 signature"),
        .member(
            "opaque parameter", "func locationManager(_ m: CLLocationManager, didEnterRegion r: some CLRegion) {}",
            finds: "2 signature"),
        .member(
            "variadic",
            "func locationManager(_ m: CLLocationManager, didRangeBeacons: CLBeacon..., in r: CLBeaconRegion) {}",
            finds: "2 signature"),
    ]

    /// Names from earlier versions, and wrong names.
    static let misnamed: [Example] = [
        .member(
            "inRegion",
            "func locationManager(_ m: CLLocationManager, didRangeBeacons b: [CLBeacon], inRegion r: CLBeaconRegion) {}",
            finds: "2 signature"),
        .member(
            "Swift 2",
            "func locationManager(manager: CLLocationManager!, didRangeBeacons b: [AnyObject]!, inRegion r: CLBeaconRegion!) {}",
            finds: "2 signature"),
        .member(
            "Swift 2 with today's types",
            "func locationManager(manager: CLLocationManager, didEnterRegion r: CLRegion) {}", finds: "2 signature"),
        .member(
            "didChangeAuthorizationStatus",
            "func locationManager(_ m: CLLocationManager, didChangeAuthorizationStatus s: CLAuthorizationStatus) {}",
            finds: "2 signature"),
        .member(
            "forRegion",
            "func locationManager(_ m: CLLocationManager, didDetermineState s: CLRegionState, forRegion r: CLRegion) {}",
            finds: "2 signature"),
        .member(
            "didStartMonitoringForRegion",
            "func locationManager(_ m: CLLocationManager, didStartMonitoringForRegion r: CLRegion) {}",
            finds: "2 signature"),
        .member(
            "withError for error",
            """
            func locationManager(_ m: CLLocationManager, didFailRangingFor c: CLBeaconIdentityConstraint,
                    withError error: Error) {}
            """, finds: "2 signature"),
        .member(
            "error for withError",
            "func locationManager(_ m: CLLocationManager, monitoringDidFailFor r: CLRegion?, error: Error) {}",
            finds: "2 signature"),
        .member(
            "the selector's label",
            """
            func locationManager(_ m: CLLocationManager, didRangeBeacons b: [CLBeacon],
                    satisfyingConstraint c: CLBeaconIdentityConstraint) {}
            """, finds: "2 signature"),
        .member(
            "half a label", "func locationManager(_ m: CLLocationManager, didEnter region: CLRegion) {}",
            finds: "2 signature"),
        .member(
            "swapped letters", "func locationManager(_ m: CLLocationManager, didEnterRegoin region: CLRegion) {}",
            finds: "2 signature"),
        .member(
            "other case", "func locationManager(_ m: CLLocationManager, didenterRegion region: CLRegion) {}",
            finds: "2 signature"),
        .member(
            "misspelt base name", "func locationManger(_ m: CLLocationManager, didEnterRegion region: CLRegion) {}",
            finds: "2 signature"),
        .member(
            "British spelling", "func locationManagerDidChangeAuthorisation(_ m: CLLocationManager) {}",
            finds: "2 signature"),
        .member(
            "one word too many", "func locationManagerDidChangeAuthorizationStatus(_ m: CLLocationManager) {}",
            finds: "2 signature"),
        .member(
            "one parameter too many",
            "func locationManager(_ m: CLLocationManager, didEnterRegion r: CLRegion, at date: Date = Date()) {}",
            finds: "2 signature"),
        .member(
            "one parameter too few",
            "func locationManager(_ m: CLLocationManager, didRangeBeacons b: [CLBeacon]) {}", finds: "2 signature"),
    ]

    /// Methods of the Core Bluetooth delegates.
    static let others: [Example] = [
        .advertiser(
            "implicitly unwrapped peripheral manager",
            "func peripheralManagerDidUpdateState(_ p: CBPeripheralManager!) {}", finds: "2 signature"),
        .advertiser(
            "NSError for an optional error",
            "func peripheralManagerDidStartAdvertising(_ p: CBPeripheralManager, error: NSError?) {}",
            finds: "2 signature"),
        .advertiser(
            "error that is not optional",
            "func peripheralManagerDidStartAdvertising(_ p: CBPeripheralManager, error: Error) {}", finds: "2 signature"
        ),
        .advertiser(
            "didAddService",
            "func peripheralManager(_ p: CBPeripheralManager, didAddService s: CBService, error: Error?) {}",
            finds: "2 signature"),
        .advertiser(
            "label in the name",
            "func peripheralManagerIsReadyToUpdateSubscribers(_ p: CBPeripheralManager) {}", finds: "2 signature"),
        .advertiser(
            "didSubscribeToCharacteristic",
            """
            func peripheralManager(_ p: CBPeripheralManager, central: CBCentral,
                    didSubscribeToCharacteristic c: CBCharacteristic) {}
            """, finds: "2 signature"),
        .advertiser(
            "dictionary of AnyObject",
            "func peripheralManager(_ p: CBPeripheralManager, willRestoreState d: [String: AnyObject]) {}",
            finds: "2 signature"),
        .central(
            "RSSI in capitals",
            """
            func centralManager(_ c: CBCentralManager, didDiscover p: CBPeripheral, advertisementData: [String: Any],
                    RSSI: NSNumber) {}
            """, finds: "2 signature"),
        .central(
            "didConnectPeripheral",
            "func centralManager(_ c: CBCentralManager, didConnectPeripheral p: CBPeripheral) {}",
            finds: "2 signature"),
        .central(
            "right",
            """
            func centralManagerDidUpdateState(_ c: CBCentralManager) {}
            func centralManager(_ c: CBCentralManager, didDiscover p: CBPeripheral,
                    advertisementData d: Dictionary<String, Any>, rssi RSSI: NSNumber) {}
            func centralManager(_ c: CBCentralManager, didDisconnectPeripheral p: CBPeripheral,
                    timestamp t: TimeInterval, isReconnecting: Bool, error: Error?) {}
            """),
        .advertiser(
            "right",
            """
            func peripheralManagerDidUpdateState(_ peripheral: CoreBluetooth.CBPeripheralManager) {}
            func peripheralManagerDidStartAdvertising(_ p: CBPeripheralManager, error: (any Swift.Error)?) {}
            func peripheralManager(_ p: CBPeripheralManager, central: CBCentral, didSubscribeTo c: CBCharacteristic) {}
            func peripheralManagerIsReady(toUpdateSubscribers p: CBPeripheralManager) {}
            func peripheralManager(_ p: CBPeripheralManager, didPublishL2CAPChannel PSM: UInt16, error: Error?) {}
            """),
    ]

    /// Each of these is the method, in different spellings.
    static let right: [Example] = [
        .member("unchanged", "func locationManager(_ manager: CLLocationManager, didEnterRegion region: CLRegion) {}"),
        .member(
            "qualified names",
            "func locationManager(_ m: CoreLocation.CLLocationManager, didEnterRegion r: CoreLocation.CLRegion) {}"),
        .member("any Error", "func locationManager(_ m: CLLocationManager, didFailWithError e: any Error) {}"),
        .member("Swift.Error", "func locationManager(_ m: CLLocationManager, didFailWithError e: Swift.Error) {}"),
        .member(
            "any Swift.Error", "func locationManager(_ m: CLLocationManager, didFailWithError e: (any Swift.Error)) {}"),
        .member(
            "optional error, three spellings",
            """
            func locationManager(_ m: CLLocationManager, didFinishDeferredUpdatesWithError e: Error?) {}
                func locationManager(_ n: CLLocationManager, didFinishDeferredUpdatesWithError e: (any Error)?) {}
                func locationManager(_ o: CLLocationManager, didFinishDeferredUpdatesWithError e: Optional<any Error>) {}
            """),
        .member(
            "Array and Optional written out",
            """
            func locationManager(_ m: CLLocationManager, didRange b: Swift.Array<CLBeacon>,
                    satisfying c: CLBeaconIdentityConstraint) -> Void {}
                func locationManager(_ m: CLLocationManager, monitoringDidFailFor r: Optional<CLRegion>,
                    withError e: Error) -> () {}
            """),
        .member(
            "attributes and modifiers",
            """
            @objc @MainActor @available(iOS 13.0, *) public nonisolated func locationManager(
                    _ m: CLLocationManager, didEnterRegion r: CLRegion
                ) {}
                @objc(foo) open dynamic func locationManager(_: CLLocationManager, didExitRegion _: CLRegion) {}
            """),
        .member(
            "comments in between",
            "func /* a */ locationManager(_ m: CLLocationManager, // b\n didEnterRegion /* c /* d */ */ r: CLRegion) {}"
        ),
        .member(
            "ownership", "func locationManager(_ m: borrowing CLLocationManager, didEnterRegion r: __owned CLRegion) {}"
        ),
        .member("quoted name", "func `locationManager`(_ m: CLLocationManager, `didEnterRegion` r: CLRegion) {}"),
        .member(
            "old and new form side by side",
            """
            func locationManager(_ m: CLLocationManager, didRangeBeacons b: [CLBeacon], in r: CLBeaconRegion) {}
                func locationManager(manager: CLLocationManager!, didRangeBeacons b: [AnyObject]!, inRegion r: CLBeaconRegion!) {}
            """),
        .member(
            "old form beside its successor",
            """
            func locationManagerDidChangeAuthorization(_ m: CLLocationManager) {}
                func locationManager(_ m: CLLocationManager, didChangeAuthorizationStatus s: CLAuthorizationStatus) {}
            """),
        Example(
            "old form for an old compiler",
            """
            extension Scanner: CLLocationManagerDelegate {
            #if swift(>=3.0)
                func locationManager(_ m: CLLocationManager, didExitRegion r: CLRegion) {}
            #else
                func locationManager(manager: CLLocationManager!, didExitRegion r: CLRegion!) {}
            #endif
            }
            """),
    ]

    /// Methods that are unrelated to the delegate.
    static let notOurs: [Example] = [
        .member("another type of manager", "func locationManager(_ m: MyLocationManager, didEnterRegion r: String) {}"),
        .member("an unrelated method", "func locationManager(_ m: CLLocationManager, shows r: CLRegion) {}"),
        .member(
            "a helper", "private func locationManager(_ m: CLLocationManager, didEnterRegion r: CLBeaconRegion) {}"),
        .member("no manager", "func didEnterRegion(_ r: CLRegion) {}"),
        .member("a property", "lazy var locationManager: CLLocationManager? = { CLLocationManager() }()"),
        .member("a maker", "func makeLocationManager(_ m: CLLocationManager?) -> CLLocationManager? { nil }"),
        .member(
            "an override",
            "override func locationManager(_ m: CLLocationManager!, didEnterRegion r: CLRegion!) {}"),
        .member(
            "a type that could be an alias", "func locationManager(_ m: CLLocationManager, didEnterRegion r: Region) {}"
        ),
        .member(
            "a function in a function",
            "func f() { func locationManager(_ m: CLLocationManager!, didEnterRegion r: CLRegion!) {} }"),
        Example(
            "a class that does not conform",
            "class A: NSObject { func locationManager(_ m: CLLocationManager!, didEnterRegion r: CLRegion!) {} }"),
        Example(
            "a struct",
            "struct A: Sendable { func locationManager(_ m: CLLocationManager!, didEnterRegion r: CLRegion!) {} }"),
        Example(
            "its own protocol",
            """
            protocol ScannerDelegate { func locationManager(_ m: CLLocationManager, didRange beacons: [CLBeacon]) }
            class A: NSObject, CLLocationManagerDelegate, ScannerDelegate {
                func locationManager(_ m: CLLocationManager, didRange beacons: [CLBeacon]) {}
            }
            """),
        Example(
            "in a string",
            #"let a = """\n class A: CLLocationManagerDelegate { func locationManager(_ m: CLLocationManager!, didExitRegion r: CLRegion!) {} }\n""""#
                .replacing(#"\n"#, with: "\n")),
        Example(
            "the delegate's protocol declared in the sources",
            """
            protocol CLLocationManagerDelegate {}
            class A: CLLocationManagerDelegate {
                func locationManager(_ m: CLLocationManager!, didExitRegion r: CLRegion!) {}
            }
            """),
        Example(
            "words that are not declarations",
            """
            let a = b.class(func: 1, class: 2, extension: 3); c.protocol { $0.func }
            class A: NSObject, CLLocationManagerDelegate { var a = x.extension; class var b: Int { 1 } }
            """),
    ]
}
