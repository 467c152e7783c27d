// Each part of Core Bluetooth that code imports by itself. This file does not import the whole.
import CoreBluetooth.CBAdvertisementData
import CoreBluetooth.CBCentralManager
import CoreBluetooth.CBError
import CoreBluetooth.CBManager
import CoreBluetooth.CBPeripheral
import CoreBluetooth.CBPeripheralManager
import CoreBluetooth.CBUUID
import Testing

@Suite("Imports of a part of Core Bluetooth")
struct SubmoduleImportTests {
    @Test("A part brings the module with all that it has, and Foundation")
    func parts() {
        #expect(CBUUID(string: "180A").uuidString == "180A")
        #expect(CBManagerState.poweredOn.rawValue == 5)
        #expect(Data().isEmpty)
    }
}
