/// The methods of the three delegates, as Core Location and Core Bluetooth declare them.
enum DelegateTable {
    /// The delegates by name.
    static let byName = Dictionary(uniqueKeysWithValues: delegates.map { ($0.name, $0) })

    /// All of them. The first parameter of each method is the manager that calls it.
    static let delegates = DelegateProtocol.protocols(
        declaredIn: """
            protocol CLLocationManagerDelegate {
                @objc(locationManagerDidChangeAuthorization:) @purpose(authorization)
                func locationManagerDidChangeAuthorization(_ manager: CLLocationManager)
                @objc(locationManager:didChangeAuthorizationStatus:) @purpose(authorization)
                func locationManager(_ manager: CLLocationManager, didChangeAuthorization status: CLAuthorizationStatus)
                @objc(locationManager:didFailWithError:)
                func locationManager(_ manager: CLLocationManager, didFailWithError error: any Error)
                @objc(locationManager:didStartMonitoringForRegion:)
                func locationManager(_ manager: CLLocationManager, didStartMonitoringFor region: CLRegion)
                @objc(locationManager:didEnterRegion:)
                func locationManager(_ manager: CLLocationManager, didEnterRegion region: CLRegion)
                @objc(locationManager:didExitRegion:)
                func locationManager(_ manager: CLLocationManager, didExitRegion region: CLRegion)
                @objc(locationManager:didDetermineState:forRegion:)
                func locationManager(_ manager: CLLocationManager, didDetermineState state: CLRegionState,
                    for region: CLRegion)
                @objc(locationManager:monitoringDidFailForRegion:withError:)
                func locationManager(_ manager: CLLocationManager, monitoringDidFailFor region: CLRegion?,
                    withError error: any Error)
                @objc(locationManager:didRangeBeacons:satisfyingConstraint:) @purpose(ranging)
                func locationManager(_ manager: CLLocationManager, didRange beacons: [CLBeacon],
                    satisfying beaconConstraint: CLBeaconIdentityConstraint)
                @objc(locationManager:didFailRangingBeaconsForConstraint:error:) @purpose(rangingFailure)
                func locationManager(_ manager: CLLocationManager,
                    didFailRangingFor beaconConstraint: CLBeaconIdentityConstraint, error: any Error)
                @objc(locationManager:didRangeBeacons:inRegion:) @purpose(ranging)
                func locationManager(_ manager: CLLocationManager, didRangeBeacons beacons: [CLBeacon],
                    in region: CLBeaconRegion)
                @objc(locationManager:rangingBeaconsDidFailForRegion:withError:) @purpose(rangingFailure)
                func locationManager(_ manager: CLLocationManager, rangingBeaconsDidFailFor region: CLBeaconRegion,
                    withError error: any Error)
                @objc(locationManager:didUpdateLocations:) @purpose(locations)
                func locationManager(_ manager: CLLocationManager, didUpdateLocations locations: [CLLocation])
                @objc(locationManager:didUpdateToLocation:fromLocation:) @purpose(locations)
                func locationManager(_ manager: CLLocationManager, didUpdateTo newLocation: CLLocation,
                    from oldLocation: CLLocation)
                @objc(locationManager:didUpdateHeading:)
                func locationManager(_ manager: CLLocationManager, didUpdateHeading newHeading: CLHeading)
                @objc(locationManagerShouldDisplayHeadingCalibration:)
                func locationManagerShouldDisplayHeadingCalibration(_ manager: CLLocationManager) -> Bool
                @objc(locationManager:didVisit:)
                func locationManager(_ manager: CLLocationManager, didVisit visit: CLVisit)
                @objc(locationManagerDidPauseLocationUpdates:)
                func locationManagerDidPauseLocationUpdates(_ manager: CLLocationManager)
                @objc(locationManagerDidResumeLocationUpdates:)
                func locationManagerDidResumeLocationUpdates(_ manager: CLLocationManager)
                @objc(locationManager:didFinishDeferredUpdatesWithError:)
                func locationManager(_ manager: CLLocationManager,
                    didFinishDeferredUpdatesWithError error: (any Error)?)
            }
            protocol CBPeripheralManagerDelegate {
                @objc(peripheralManagerDidUpdateState:)
                func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager)
                @objc(peripheralManager:willRestoreState:)
                func peripheralManager(_ peripheral: CBPeripheralManager, willRestoreState dict: [String: Any])
                @objc(peripheralManagerDidStartAdvertising:error:)
                func peripheralManagerDidStartAdvertising(_ peripheral: CBPeripheralManager, error: (any Error)?)
                @objc(peripheralManager:didAddService:error:)
                func peripheralManager(_ peripheral: CBPeripheralManager, didAdd service: CBService,
                    error: (any Error)?)
                @objc(peripheralManager:central:didSubscribeToCharacteristic:)
                func peripheralManager(_ peripheral: CBPeripheralManager, central: CBCentral,
                    didSubscribeTo characteristic: CBCharacteristic)
                @objc(peripheralManager:central:didUnsubscribeFromCharacteristic:)
                func peripheralManager(_ peripheral: CBPeripheralManager, central: CBCentral,
                    didUnsubscribeFrom characteristic: CBCharacteristic)
                @objc(peripheralManagerIsReadyToUpdateSubscribers:)
                func peripheralManagerIsReady(toUpdateSubscribers peripheral: CBPeripheralManager)
                @objc(peripheralManager:didReceiveReadRequest:)
                func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest)
                @objc(peripheralManager:didReceiveWriteRequests:)
                func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveWrite requests: [CBATTRequest])
                @objc(peripheralManager:didPublishL2CAPChannel:error:)
                func peripheralManager(_ peripheral: CBPeripheralManager, didPublishL2CAPChannel PSM: CBL2CAPPSM,
                    error: (any Error)?)
                @objc(peripheralManager:didUnpublishL2CAPChannel:error:)
                func peripheralManager(_ peripheral: CBPeripheralManager, didUnpublishL2CAPChannel PSM: CBL2CAPPSM,
                    error: (any Error)?)
                @objc(peripheralManager:didOpenL2CAPChannel:error:)
                func peripheralManager(_ peripheral: CBPeripheralManager, didOpen channel: CBL2CAPChannel?,
                    error: (any Error)?)
            }
            protocol CBCentralManagerDelegate {
                @objc(centralManagerDidUpdateState:)
                func centralManagerDidUpdateState(_ central: CBCentralManager)
                @objc(centralManager:willRestoreState:)
                func centralManager(_ central: CBCentralManager, willRestoreState dict: [String: Any])
                @objc(centralManager:didDiscoverPeripheral:advertisementData:RSSI:)
                func centralManager(_ central: CBCentralManager, didDiscover peripheral: CBPeripheral,
                    advertisementData: [String: Any], rssi RSSI: NSNumber)
                @objc(centralManager:didConnectPeripheral:)
                func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral)
                @objc(centralManager:didFailToConnectPeripheral:error:)
                func centralManager(_ central: CBCentralManager, didFailToConnect peripheral: CBPeripheral,
                    error: (any Error)?)
                @objc(centralManager:didDisconnectPeripheral:error:) @purpose(disconnection)
                func centralManager(_ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral,
                    error: (any Error)?)
                @objc(centralManager:didDisconnectPeripheral:timestamp:isReconnecting:error:) @purpose(disconnection)
                func centralManager(_ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral,
                    timestamp: CFAbsoluteTime, isReconnecting: Bool, error: (any Error)?)
                @objc(centralManager:connectionEventDidOccur:forPeripheral:)
                func centralManager(_ central: CBCentralManager, connectionEventDidOccur event: CBConnectionEvent,
                    for peripheral: CBPeripheral)
                @objc(centralManager:didUpdateANCSAuthorizationForPeripheral:)
                func centralManager(_ central: CBCentralManager, didUpdateANCSAuthorizationFor peripheral: CBPeripheral)
            }
            """)
}
