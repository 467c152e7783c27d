import CoreBluetooth
import Testing

@Suite struct ManagerDeclarationTests {
    @Test func rawValues() {
        let states: [CBManagerState] = [
            .unknown, .resetting, .unsupported, .unauthorized, .poweredOff, .poweredOn,
        ]
        #expect(states.map(\.rawValue) == Array(0...5))
        let peripheral: [CBPeripheralManagerState] = [
            .unknown, .resetting, .unsupported, .unauthorized, .poweredOff, .poweredOn,
        ]
        #expect(peripheral.map(\.rawValue) == Array(0...5))
        let central: [CBCentralManagerState] = [
            .unknown, .resetting, .unsupported, .unauthorized, .poweredOff, .poweredOn,
        ]
        #expect(central.map(\.rawValue) == Array(0...5))
        let authorizations: [CBManagerAuthorization] = [.notDetermined, .restricted, .denied, .allowedAlways]
        #expect(authorizations.map(\.rawValue) == Array(0...3))
        let old: [CBPeripheralManagerAuthorizationStatus] = [.notDetermined, .restricted, .denied, .authorized]
        #expect(old.map(\.rawValue) == Array(0...3))
        let latencies: [CBPeripheralManagerConnectionLatency] = [.low, .medium, .high]
        #expect(latencies.map(\.rawValue) == Array(0...2))
        let peers: [CBPeripheralState] = [.disconnected, .connecting, .connected, .disconnecting]
        #expect(peers.map(\.rawValue) == Array(0...3))
        #expect(CBConnectionEvent.peerConnected.rawValue == 1)
        #expect(CBCharacteristicWriteType.withoutResponse.rawValue == 1)
    }

    @Test func keys() {
        #expect(CBAdvertisementDataLocalNameKey == "kCBAdvDataLocalName")
        #expect(CBAdvertisementDataServiceUUIDsKey == "kCBAdvDataServiceUUIDs")
        #expect(CBAdvertisementDataManufacturerDataKey == "kCBAdvDataManufacturerData")
        #expect(CBAdvertisementDataServiceDataKey == "kCBAdvDataServiceData")
        #expect(CBAdvertisementDataOverflowServiceUUIDsKey == "kCBAdvDataHashedServiceUUIDs")
        #expect(CBAdvertisementDataTxPowerLevelKey == "kCBAdvDataTxPowerLevel")
        #expect(CBAdvertisementDataIsConnectable == "kCBAdvDataIsConnectable")
        #expect(CBAdvertisementDataSolicitedServiceUUIDsKey == "kCBAdvDataSolicitedServiceUUIDs")
        let others = [
            CBPeripheralManagerOptionShowPowerAlertKey, CBPeripheralManagerOptionRestoreIdentifierKey,
            CBPeripheralManagerRestoredStateServicesKey, CBPeripheralManagerRestoredStateAdvertisementDataKey,
            CBCentralManagerOptionShowPowerAlertKey, CBCentralManagerOptionRestoreIdentifierKey,
            CBCentralManagerRestoredStatePeripheralsKey, CBCentralManagerRestoredStateScanServicesKey,
            CBCentralManagerRestoredStateScanOptionsKey, CBCentralManagerScanOptionAllowDuplicatesKey,
            CBCentralManagerScanOptionSolicitedServiceUUIDsKey,
        ]
        #expect(Set(others).count == others.count)
    }

    @Test func onlyTheStateIsRequired() {
        final class Peripheral: NSObject, CBPeripheralManagerDelegate {
            func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {}
        }
        final class Central: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate {
            func centralManagerDidUpdateState(_ central: CBCentralManager) {}
        }
        let peripheral: any CBPeripheralManagerDelegate = Peripheral()
        peripheral.peripheralManagerDidUpdateState(CBPeripheralManager())
        peripheral.peripheralManagerDidStartAdvertising(CBPeripheralManager(), error: nil)
        let central: any CBCentralManagerDelegate = Central()
        central.centralManager(CBCentralManager(), willRestoreState: [:])
        // Foundation and Dispatch come along.
        let queue: DispatchQueue? = DispatchQueue(label: "advertising")
        #expect(queue != nil && Data().isEmpty)
    }
}
