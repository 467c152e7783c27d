import BeaconModel
import BeaconMonitoring
import Testing

@Suite("Pending ranging reports")
struct PendingRangingReportsTests {
    @Test("Only the newest report of each constraint waits (B5)")
    func newest() throws {
        let pending = PendingRangingReports()
        let other = BeaconConstraint(uuid: CenterBench.uuid, major: 1)
        #expect(pending.take(CenterBench.everyone)?.time == nil)
        for second in 1...3600 {
            let report = PendingRangingReports.Report(
                beacons: [], time: Timestamp(nanoseconds: Int64(second) * 1_000_000_000))
            #expect(pending.put(report, for: CenterBench.everyone) == (second == 1))
            if second == 1800 { #expect(pending.put(report, for: other)) }
        }
        #expect(try #require(pending.take(CenterBench.everyone)).time.seconds == 3600)
        #expect(try #require(pending.take(other)).time.seconds == 1800)
        #expect(pending.take(other)?.time == nil)
    }
}
