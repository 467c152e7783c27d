import BeaconModel
import BeaconRadio
import Testing

@Suite("The records of a file in the order of time (N1)")
struct RecordOrderTests {
    @Test("A scan mode that is set later has all adverts from then on, although they were read ahead")
    func discovery() throws {
        let log = SightingLog()
        for number in 0..<10 { log.add(1000 + Double(number) / 10) }
        var source = try log.source()
        source.keepAdvertsAhead()
        _ = try source.next()
        source.scan(.discovery)
        var count = 0
        while try source.next() != nil { source.forEachAdvert { _, _ in count += 1 } }
        #expect(count == 9)
    }

    @Test("Receivers appear with their first record in the order of time")
    func names() throws {
        let log = SightingLog()
        log.add(1000.2, receiver: "b")
        log.add(1000.4, receiver: "b")
        log.add(1000.1, receiver: "a")
        log.add(1000.3, receiver: "a")
        var source = try log.source()
        var heard: [String] = []
        while let record = try source.next() {
            let names = source.receiverNames
            for sighting in source.sightings {
                heard.append("\(record.time?.seconds ?? 0) \(names[Int(sighting.receiver.index)]) of \(names.count)")
            }
        }
        #expect(heard == ["1000.1 a of 1", "1000.2 b of 2", "1000.3 a of 2", "1000.4 b of 2"])
        #expect(source.counts.packets == 4)
    }
}
