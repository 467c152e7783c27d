import CoreBluetooth
import Testing

@Suite struct CBUUIDTests {
    @Test(
        "A UUID is parsed from its text, and has the right bytes",
        arguments: [
            ("180D", [0x18, 0x0D]), ("180d", [0x18, 0x0D]), ("0000180D", [0, 0, 0x18, 0x0D]),
            (
                "68753A44-4D6F-1226-9C60-0050E4C00067",
                [0x68, 0x75, 0x3A, 0x44, 0x4D, 0x6F, 0x12, 0x26, 0x9C, 0x60, 0x00, 0x50, 0xE4, 0xC0, 0x00, 0x67]
            ),
        ] as [(String, [UInt8])])
    func textAndBytes(text: String, bytes: [UInt8]) {
        let uuid = CBUUID(string: text)
        #expect(Array(uuid.data) == bytes)
        #expect(uuid.uuidString == text.uppercased())
        #expect(uuid.description == uuid.uuidString)
        #expect(CBUUID(data: Data(bytes)) == uuid)
    }

    @Test("A short UUID equals its expansion")
    func shortEqualsItsExpansion() {
        let short = CBUUID(string: "180D")
        let middle = CBUUID(string: "0000180D")
        let long = CBUUID(string: "0000180D-0000-1000-8000-00805F9B34FB")
        #expect(short == long && middle == long && short == middle)
        #expect(Set([short, middle, long]).count == 1)
        #expect(short != CBUUID(string: "180E"))
        #expect(CBUUID(string: "1234180D") != short)
        #expect(!short.isEqual(nil))
    }

    @Test("A UUID can be created from Foundation's")
    func fromFoundation() {
        let uuid = UUID()
        #expect(CBUUID(nsuuid: uuid).uuidString == uuid.uuidString)
        #expect(CBUUID(nsuuid: uuid).copy() as? CBUUID == CBUUID(string: uuid.uuidString))
    }

    @Test(
        "Each named UUID is valid",
        arguments: [
            CBUUIDCharacteristicExtendedPropertiesString, CBUUIDCharacteristicUserDescriptionString,
            CBUUIDClientCharacteristicConfigurationString, CBUUIDServerCharacteristicConfigurationString,
            CBUUIDCharacteristicFormatString, CBUUIDCharacteristicAggregateFormatString,
            CBUUIDCharacteristicValidRangeString, CBUUIDL2CAPPSMCharacteristicString,
        ])
    func names(text: String) {
        #expect(CBUUID(string: text).uuidString == text)
    }

    // One by one, since with Swift 6.2 the ending process cannot capture values of the test.
    @Test("Other text is rejected")
    func otherTextIsRejected() async {
        await #expect(processExitsWith: .failure) { _ = CBUUID(string: "") }
        await #expect(processExitsWith: .failure) { _ = CBUUID(string: "18") }
        await #expect(processExitsWith: .failure) { _ = CBUUID(string: "180G") }
        await #expect(processExitsWith: .failure) { _ = CBUUID(string: "180D180") }
        await #expect(processExitsWith: .failure) { _ = CBUUID(string: "+18D") }
        await #expect(processExitsWith: .failure) { _ = CBUUID(string: "１８０D") }
    }

    @Test("Other lengths are rejected")
    func otherLengthsAreRejected() async {
        await #expect(processExitsWith: .failure) { _ = CBUUID(data: Data([1, 2, 3])) }
    }
}
