import BeaconModel
import BeaconMonitoring
import Testing

@Suite("The mailbox of ranging reports")
struct RangingMailboxTests {
    @Test("One report of each constraint waits, the newest, and those that it replaced are counted (B5)")
    func newest() throws {
        let mailbox = RangingMailbox()
        let other = BeaconConstraint(uuid: CenterBench.uuid, major: 1)
        #expect(mailbox.take(CenterBench.everyone)?.time == nil)
        for second in 1...3600 {
            let report = RangingMailbox.Report(
                beacons: [], time: Timestamp(nanoseconds: Int64(second) * 1_000_000_000))
            #expect(mailbox.put(report, for: CenterBench.everyone) == (second == 1))
            if second == 1800 { #expect(mailbox.put(report, for: other)) }
        }
        #expect(mailbox.replacedReports == 3599)
        #expect(try #require(mailbox.take(CenterBench.everyone)).time.seconds == 3600)
        #expect(try #require(mailbox.take(other)).time.seconds == 1800)
        #expect(mailbox.take(other)?.time == nil)
    }
}
