// The submodules of Core Bluetooth that code imports. This file does not import the whole module.
import CoreBluetooth.CBAdvertisementData
import CoreBluetooth.CBCentralManager
import CoreBluetooth.CBError
import CoreBluetooth.CBManager
import CoreBluetooth.CBPeripheral
import CoreBluetooth.CBPeripheralManager
import CoreBluetooth.CBUUID
import Testing

@Suite("Imports of Core Bluetooth's submodules")
struct SubmoduleImportTests {
    @Test("A submodule provides the whole module and Foundation")
    func parts() {
        #expect(CBUUID(string: "180A").uuidString == "180A")
        #expect(CBManagerState.poweredOn.rawValue == 5)
        #expect(Data().isEmpty)
    }
}
