import CoreBluetooth
import Testing

@Suite struct AttributeTests {
    @Test("Services link their characteristics")
    func services() {
        let value = CBMutableCharacteristic(
            type: CBUUID(string: "2A19"), properties: [.read, .notify], value: Data([100]), permissions: .readable)
        #expect(value.uuid == CBUUID(string: "2A19"))
        #expect(value.properties == [.read, .notify])
        #expect(value.permissions == .readable)
        #expect(value.value == Data([100]))
        #expect(value.service == nil)
        #expect(value.subscribedCentrals == nil)
        let service = CBMutableService(type: CBUUID(string: "180F"), primary: true)
        #expect(service.isPrimary)
        #expect(service.characteristics == nil)
        service.characteristics = [value]
        #expect(value.service === service)
        #expect((service as CBService).characteristics?.first === value)
        service.characteristics = nil
        #expect(value.service == nil)
    }

    @Test("Characteristics link their descriptors")
    func characteristics() {
        let value = CBMutableCharacteristic(
            type: CBUUID(string: "2A19"), properties: .read, value: nil, permissions: [])
        let words = CBMutableDescriptor(
            type: CBUUID(string: CBUUIDCharacteristicUserDescriptionString), value: "battery")
        value.descriptors = [words]
        #expect(words.characteristic === value)
        #expect(words.value as? String == "battery")
    }

    @Test("A service does not keep itself alive")
    func aServiceDoesNotKeepItselfAlive() {
        weak var gone: CBMutableService?
        let value = CBMutableCharacteristic(
            type: CBUUID(string: "2A19"), properties: .read, value: nil, permissions: [])
        do {
            let service = CBMutableService(type: CBUUID(string: "180F"), primary: true)
            service.characteristics = [value]
            gone = service
        }
        #expect(gone == nil)
        #expect(value.service == nil)
    }

    @Test("Properties and permissions have Apple's bits")
    func bits() {
        let properties: [CBCharacteristicProperties] = [
            .broadcast, .read, .writeWithoutResponse, .write, .notify, .indicate, .authenticatedSignedWrites,
            .extendedProperties, .notifyEncryptionRequired, .indicateEncryptionRequired,
        ]
        #expect(properties.map(\.rawValue) == (0..<10).map { 1 << UInt($0) })
        let permissions: [CBAttributePermissions] = [
            .readable, .writeable, .readEncryptionRequired, .writeEncryptionRequired,
        ]
        #expect(permissions.map(\.rawValue) == [1, 2, 4, 8])
    }
}
