import BeaconModel
import Testing

@Suite("Device address")
struct DeviceAddressTests {
    @Test("An address is read in either case, with the first printed byte highest")
    func reads() {
        let address = DeviceAddress(bits: 0xAABB_CCDD_EE0F, kind: .unspecified)
        #expect(DeviceAddress("aa:bb:cc:dd:ee:0f") == address)
        #expect(DeviceAddress("AA:Bb:cC:DD:EE:0F"[...]) == address)
        #expect(DeviceAddress("aa:bb:cc:dd:ee:0f", kind: .random)?.kind == .random)
    }

    @Test(
        "Other text is not an address",
        arguments: [
            "", "aa:bb:cc:dd:ee", "aa:bb:cc:dd:ee:", "aa:bb:cc:dd:ee:f", "aa:bb:cc:dd:ee:ff:", "aa:bb:cc:dd:ee:ff:00",
            "aa-bb-cc-dd-ee-ff", "aabbccddeeff", "aa:bb:cc:dd:ee:fg", ":aa:bb:cc:dd:ee:f", "a:abb:cc:dd:ee:ff",
            " aa:bb:cc:dd:ee:ff", "aa:bb:cc:dd:ee:\u{FF11}1",
        ])
    func rejects(text: String) { #expect(DeviceAddress(text) == nil) }

    @Test("An address is written in lower case without its kind, and has 48 bits")
    func description() {
        let address = DeviceAddress(bits: 0xFFFF_0102_0304_A5B6, kind: .public)
        #expect(address.bits == 0x0102_0304_A5B6)
        #expect(address.description == "01:02:03:04:a5:b6")
        #expect(DeviceAddress(bits: 0, kind: .anonymous).description == "00:00:00:00:00:00")
    }

    @Test("Addresses of different kinds are different")
    func kinds() {
        let all = Set(DeviceAddress.Kind.allCases.map { DeviceAddress(bits: 1, kind: $0) })
        #expect(all.count == DeviceAddress.Kind.allCases.count)
    }
}
