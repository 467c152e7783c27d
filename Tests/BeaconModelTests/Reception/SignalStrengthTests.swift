import BeaconModel
import Testing

@Suite("Signal strength")
struct SignalStrengthTests {
    @Test("127 is no reading, everything else is dBm")
    func readings() {
        #expect(SignalStrength.unavailable.dBm == nil)
        #expect(SignalStrength(rawValue: 127).dBm == nil)
        for value in Int8.min...126 { #expect(SignalStrength(rawValue: value).dBm == value) }
    }
}
