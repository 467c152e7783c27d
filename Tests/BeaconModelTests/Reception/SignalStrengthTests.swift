import BeaconModel
import Testing

@Suite("Signal strength")
struct SignalStrengthTests {
    @Test("Only a negative strength is a reading: 127, 0 and positive values mean no reading")
    func readings() {
        #expect(SignalStrength.unavailable.dBm == nil)
        for value in Int8.min ... -1 { #expect(SignalStrength(rawValue: value).dBm == value) }
        for value in 0...Int8.max { #expect(SignalStrength(rawValue: value).dBm == nil) }
    }
}
