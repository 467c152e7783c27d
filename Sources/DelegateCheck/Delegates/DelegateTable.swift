/// The methods of the three delegates, as Core Location and Core Bluetooth declare them.
enum DelegateTable {
    /// All of them.
    static let delegates: [DelegateProtocol] = [locationManager, peripheralManager, centralManager]

    /// The delegates by name.
    static let byName = Dictionary(uniqueKeysWithValues: delegates.map { ($0.name, $0) })

    /// `CLLocationManagerDelegate`.
    static let locationManager = DelegateProtocol(
        name: "CLLocationManagerDelegate", manager: "CLLocationManager",
        methods: [
            method(
                "locationManagerDidChangeAuthorization(_ manager: CLLocationManager)",
                "locationManagerDidChangeAuthorization:", .authorization),
            method(
                "locationManager(_ manager: CLLocationManager, didChangeAuthorization status: CLAuthorizationStatus)",
                "locationManager:didChangeAuthorizationStatus:", .authorization),
            method(
                "locationManager(_ manager: CLLocationManager, didFailWithError error: any Error)",
                "locationManager:didFailWithError:"),
            method(
                "locationManager(_ manager: CLLocationManager, didStartMonitoringFor region: CLRegion)",
                "locationManager:didStartMonitoringForRegion:"),
            method(
                "locationManager(_ manager: CLLocationManager, didEnterRegion region: CLRegion)",
                "locationManager:didEnterRegion:"),
            method(
                "locationManager(_ manager: CLLocationManager, didExitRegion region: CLRegion)",
                "locationManager:didExitRegion:"),
            method(
                "locationManager(_ manager: CLLocationManager, didDetermineState state: CLRegionState, "
                    + "for region: CLRegion)",
                "locationManager:didDetermineState:forRegion:"),
            method(
                "locationManager(_ manager: CLLocationManager, monitoringDidFailFor region: CLRegion?, "
                    + "withError error: any Error)",
                "locationManager:monitoringDidFailForRegion:withError:"),
            method(
                "locationManager(_ manager: CLLocationManager, didRange beacons: [CLBeacon], "
                    + "satisfying beaconConstraint: CLBeaconIdentityConstraint)",
                "locationManager:didRangeBeacons:satisfyingConstraint:", .ranging),
            method(
                "locationManager(_ manager: CLLocationManager, "
                    + "didFailRangingFor beaconConstraint: CLBeaconIdentityConstraint, error: any Error)",
                "locationManager:didFailRangingBeaconsForConstraint:error:", .rangingFailure),
            method(
                "locationManager(_ manager: CLLocationManager, didRangeBeacons beacons: [CLBeacon], "
                    + "in region: CLBeaconRegion)",
                "locationManager:didRangeBeacons:inRegion:", .ranging),
            method(
                "locationManager(_ manager: CLLocationManager, rangingBeaconsDidFailFor region: CLBeaconRegion, "
                    + "withError error: any Error)",
                "locationManager:rangingBeaconsDidFailForRegion:withError:", .rangingFailure),
            method(
                "locationManager(_ manager: CLLocationManager, didUpdateLocations locations: [CLLocation])",
                "locationManager:didUpdateLocations:", .locations),
            method(
                "locationManager(_ manager: CLLocationManager, didUpdateTo newLocation: CLLocation, "
                    + "from oldLocation: CLLocation)",
                "locationManager:didUpdateToLocation:fromLocation:", .locations),
            method(
                "locationManager(_ manager: CLLocationManager, didUpdateHeading newHeading: CLHeading)",
                "locationManager:didUpdateHeading:"),
            method(
                "locationManagerShouldDisplayHeadingCalibration(_ manager: CLLocationManager) -> Bool",
                "locationManagerShouldDisplayHeadingCalibration:"),
            method(
                "locationManager(_ manager: CLLocationManager, didVisit visit: CLVisit)",
                "locationManager:didVisit:"),
            method(
                "locationManagerDidPauseLocationUpdates(_ manager: CLLocationManager)",
                "locationManagerDidPauseLocationUpdates:"),
            method(
                "locationManagerDidResumeLocationUpdates(_ manager: CLLocationManager)",
                "locationManagerDidResumeLocationUpdates:"),
            method(
                "locationManager(_ manager: CLLocationManager, "
                    + "didFinishDeferredUpdatesWithError error: (any Error)?)",
                "locationManager:didFinishDeferredUpdatesWithError:"),
        ])

    /// `CBPeripheralManagerDelegate`.
    static let peripheralManager = DelegateProtocol(
        name: "CBPeripheralManagerDelegate", manager: "CBPeripheralManager",
        methods: [
            method(
                "peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager)",
                "peripheralManagerDidUpdateState:"),
            method(
                "peripheralManager(_ peripheral: CBPeripheralManager, willRestoreState dict: [String: Any])",
                "peripheralManager:willRestoreState:"),
            method(
                "peripheralManagerDidStartAdvertising(_ peripheral: CBPeripheralManager, error: (any Error)?)",
                "peripheralManagerDidStartAdvertising:error:"),
            method(
                "peripheralManager(_ peripheral: CBPeripheralManager, didAdd service: CBService, "
                    + "error: (any Error)?)",
                "peripheralManager:didAddService:error:"),
            method(
                "peripheralManager(_ peripheral: CBPeripheralManager, central: CBCentral, "
                    + "didSubscribeTo characteristic: CBCharacteristic)",
                "peripheralManager:central:didSubscribeToCharacteristic:"),
            method(
                "peripheralManager(_ peripheral: CBPeripheralManager, central: CBCentral, "
                    + "didUnsubscribeFrom characteristic: CBCharacteristic)",
                "peripheralManager:central:didUnsubscribeFromCharacteristic:"),
            method(
                "peripheralManagerIsReady(toUpdateSubscribers peripheral: CBPeripheralManager)",
                "peripheralManagerIsReadyToUpdateSubscribers:"),
            method(
                "peripheralManager(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest)",
                "peripheralManager:didReceiveReadRequest:"),
            method(
                "peripheralManager(_ peripheral: CBPeripheralManager, didReceiveWrite requests: [CBATTRequest])",
                "peripheralManager:didReceiveWriteRequests:"),
            method(
                "peripheralManager(_ peripheral: CBPeripheralManager, didPublishL2CAPChannel PSM: CBL2CAPPSM, "
                    + "error: (any Error)?)",
                "peripheralManager:didPublishL2CAPChannel:error:"),
            method(
                "peripheralManager(_ peripheral: CBPeripheralManager, didUnpublishL2CAPChannel PSM: CBL2CAPPSM, "
                    + "error: (any Error)?)",
                "peripheralManager:didUnpublishL2CAPChannel:error:"),
            method(
                "peripheralManager(_ peripheral: CBPeripheralManager, didOpen channel: CBL2CAPChannel?, "
                    + "error: (any Error)?)",
                "peripheralManager:didOpenL2CAPChannel:error:"),
        ])

    /// `CBCentralManagerDelegate`.
    static let centralManager = DelegateProtocol(
        name: "CBCentralManagerDelegate", manager: "CBCentralManager",
        methods: [
            method(
                "centralManagerDidUpdateState(_ central: CBCentralManager)",
                "centralManagerDidUpdateState:"),
            method(
                "centralManager(_ central: CBCentralManager, willRestoreState dict: [String: Any])",
                "centralManager:willRestoreState:"),
            method(
                "centralManager(_ central: CBCentralManager, didDiscover peripheral: CBPeripheral, "
                    + "advertisementData: [String: Any], rssi RSSI: NSNumber)",
                "centralManager:didDiscoverPeripheral:advertisementData:RSSI:"),
            method(
                "centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral)",
                "centralManager:didConnectPeripheral:"),
            method(
                "centralManager(_ central: CBCentralManager, didFailToConnect peripheral: CBPeripheral, "
                    + "error: (any Error)?)",
                "centralManager:didFailToConnectPeripheral:error:"),
            method(
                "centralManager(_ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, "
                    + "error: (any Error)?)",
                "centralManager:didDisconnectPeripheral:error:", .disconnection),
            method(
                "centralManager(_ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, "
                    + "timestamp: CFAbsoluteTime, isReconnecting: Bool, error: (any Error)?)",
                "centralManager:didDisconnectPeripheral:timestamp:isReconnecting:error:", .disconnection),
            method(
                "centralManager(_ central: CBCentralManager, connectionEventDidOccur event: CBConnectionEvent, "
                    + "for peripheral: CBPeripheral)",
                "centralManager:connectionEventDidOccur:forPeripheral:"),
            method(
                "centralManager(_ central: CBCentralManager, didUpdateANCSAuthorizationFor peripheral: CBPeripheral)",
                "centralManager:didUpdateANCSAuthorizationForPeripheral:"),
        ])

    private static func method(
        _ signature: String, _ selector: String, _ purpose: DelegateMethod.Purpose? = nil
    ) -> DelegateMethod {
        DelegateMethod(signature: "func " + signature, selector: selector, purpose: purpose)
    }
}
