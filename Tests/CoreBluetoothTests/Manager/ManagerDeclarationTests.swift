import CoreBluetooth
import Testing

@Suite struct ManagerDeclarationTests {
    @Test("Raw values are Apple's")
    func rawValues() {
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

    @Test("Keys differ from one another, and are Apple's if those are known")
    func keys() {
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
            CBCentralManagerScanOptionSolicitedServiceUUIDsKey, CBCentralManagerOptionDeviceAccessForMedia,
            CBConnectPeripheralOptionNotifyOnConnectionKey, CBConnectPeripheralOptionNotifyOnDisconnectionKey,
            CBConnectPeripheralOptionNotifyOnNotificationKey, CBConnectPeripheralOptionEnableAutoReconnect,
            CBConnectPeripheralOptionEnableTransportBridgingKey, CBConnectPeripheralOptionRequiresANCS,
            CBConnectPeripheralOptionStartDelayKey, CBConnectionEventMatchingOption.serviceUUIDs.rawValue,
            CBConnectionEventMatchingOption.peripheralUUIDs.rawValue,
        ]
        #expect(Set(others).count == others.count)
    }

    @Test("iOS 27's names for measured distances compile, and do nothing")
    func channelSounding() {
        final class Listener: NSObject, CBPeripheralDelegate {
            func peripheral(
                _ peripheral: CBPeripheral, didReceive results: CBChannelSoundingProcedureResults?,
                error: (any Error)?
            ) {}
            func peripheral(_ peripheral: CBPeripheral, didCompleteChannelSoundingSession error: (any Error)?) {}
        }
        #expect(!CBCentralManager.supports(.channelSounding))
        #expect(!CBCentralManager.supports([.channelSounding, .extendedScanAndConnect]))
        #expect(CBChannelSoundingSessionConfiguration(role: .initiator).role == .initiator)
        let start = CBPeripheral.startChannelSoundingSession
        let cancel = CBPeripheral.cancelChannelSoundingSession
        withExtendedLifetime((start, cancel, Listener())) {}
    }

    @Test("Delegates must implement only the callback for the state")
    func onlyTheStateIsRequired() {
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
        // The module exports Foundation and Dispatch.
        let queue: DispatchQueue? = DispatchQueue(label: "advertising")
        #expect(queue != nil && Data().isEmpty)
    }

    @Test("Optional calls, as in mocks, reach the delegate's methods and their defaults (C4)")
    func optionalCalls() {
        let witness = Witness()
        let manager = CBPeripheralManager(delegate: nil, queue: nil)
        let service = CBMutableService(type: CBUUID(string: "180F"), primary: true)
        let delegate: (any CBPeripheralManagerDelegate)? = witness
        delegate?.peripheralManagerDidStartAdvertising?(manager, error: nil)
        delegate?.peripheralManager?(manager, didAdd: service, error: nil)
        delegate?.peripheralManager?(manager, didUnpublishL2CAPChannel: 7, error: nil)
        delegate?.peripheralManagerIsReady?(toUpdateSubscribers: manager)
        delegate?.peripheralManager?(manager, willRestoreState: [:])
        #expect(witness.words() == ["started", "added 180F", "unpublished 7"])
        let central = CBCentralManager(delegate: nil, queue: nil)
        let other: (any CBCentralManagerDelegate)? = witness
        other?.centralManager?(central, willRestoreState: [:])
        #expect(witness.words() == [])
    }

    @Test("A delegate may have properties named peripheral, peripheralManager and centralManager (C4)")
    func propertiesOfThoseNames() {
        final class App: NSObject, CBPeripheralManagerDelegate, CBCentralManagerDelegate, CBPeripheralDelegate {
            var peripheralManager: CBPeripheralManager!
            lazy var centralManager = CBCentralManager(delegate: self, queue: nil)
            var peripheral: CBPeripheral?
            func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {}
            func centralManagerDidUpdateState(_ central: CBCentralManager) {}
            func use() -> Bool {
                peripheralManager = CBPeripheralManager(delegate: self, queue: nil)
                peripheral?.delegate = self
                return centralManager.delegate === self && peripheralManager.delegate === self
            }
        }
        #expect(App().use())
    }
}
