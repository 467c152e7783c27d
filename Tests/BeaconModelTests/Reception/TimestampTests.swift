import BeaconModel
import Testing

@Suite("Timestamp")
struct TimestampTests {
    @Test("A time is within zero...latest")
    func bounds() {
        #expect(Timestamp(nanoseconds: -1) == .zero)
        #expect(Timestamp(nanoseconds: .min) == .zero)
        #expect(Timestamp(nanoseconds: .max) == .latest)
        #expect(Timestamp(nanoseconds: Timestamp.latest.nanoseconds) == .latest)
    }

    @Test("A time is created from seconds within its range")
    func seconds() {
        #expect(Timestamp(seconds: 0) == .zero)
        #expect(Timestamp(seconds: 1.5)?.nanoseconds == 1_500_000_000)
        #expect(Timestamp(seconds: 0.000_000_000_6)?.nanoseconds == 1)
        #expect(Timestamp(seconds: Timestamp.latest.seconds) == .latest)
        for bad in [-0.001, 4_611_686_019, .infinity, -.infinity, .nan, .greatestFiniteMagnitude] {
            #expect(Timestamp(seconds: bad) == nil, "\(bad)")
        }
        #expect(Timestamp(nanoseconds: 2_500_000_000).seconds == 2.5)
    }

    @Test("Arithmetic saturates instead of overflowing")
    func saturation() {
        #expect(Timestamp.latest.advanced(by: .max) == .latest)
        #expect(Timestamp.latest.advanced(by: 1) == .latest)
        #expect(Timestamp.zero.advanced(by: .min) == .zero)
        #expect(Timestamp.zero.advanced(by: -1) == .zero)
        #expect(Timestamp.zero.advanced(by: 7).nanoseconds == 7)
        #expect(Timestamp.latest.nextWholeSecond == .latest)
        #expect(Timestamp.zero.since(.latest) == -Timestamp.latest.nanoseconds)
        #expect(Timestamp.latest.since(.zero) == Timestamp.latest.nanoseconds)
    }

    @Test("The next whole second is later, even from a whole second")
    func wholeSecond() {
        #expect(Timestamp.zero.nextWholeSecond.nanoseconds == 1_000_000_000)
        #expect(Timestamp(nanoseconds: 999_999_999).nextWholeSecond.nanoseconds == 1_000_000_000)
        #expect(Timestamp(nanoseconds: 1_000_000_000).nextWholeSecond.nanoseconds == 2_000_000_000)
    }

    @Test("Times are ordered")
    func order() { #expect(Timestamp.zero < Timestamp.latest && !(Timestamp.latest < Timestamp.zero)) }
}
