import BeaconModel
import BeaconSupport
import Testing

@Suite("Event identifiers")
struct EventIDTests {
    @Test("Identifiers are increasing UUIDs of version 7, even within a millisecond and if the clock is set back")
    func order() {
        var ids = EventIDs()
        var generator = SplitMix64(seed: 1)
        var last: EventID?
        for number in 0..<20_000 {
            // 10 000 within a millisecond, and then a clock that runs backward.
            let time = Timestamp(nanoseconds: 1_800_000_000_000_000_000 - Int64(max(0, number - 10_000)) * 1_000_000)
            let id = ids.next(at: time, random: generator.next())
            #expect(id.value.high >> 12 & 0xF == 7)
            #expect(id.value.low >> 62 == 2)
            if let last { #expect(last < id) }
            last = id
        }
    }

    @Test("Any time gives an identifier", arguments: [Timestamp.zero, .latest, Timestamp(nanoseconds: 1)])
    func times(time: Timestamp) {
        var ids = EventIDs()
        let (first, second) = (ids.next(at: time), ids.next(at: time))
        #expect(first < second)
        #expect(EventID(first.description) == first)
        #expect(EventID("no name") == nil)
    }
}
