import BeaconEngine
import BeaconModel
import BeaconRadio
import BeaconService
import Testing

@Suite("A radio that goes and comes")
struct RadioLossTests {
    private static let frame = IBeaconFrame(
        identity: BeaconIdentity(uuid: ProximityUUID(high: 1, low: 2), major: 3, minor: 4), measuredPower: -59)

    private static let region = SessionConfiguration.Region(
        name: "hall",
        region: MonitoredRegion(BeaconConstraint(frame.identity), exitTimeout: .milliseconds(300)))

    /// What the session finds until `isOver` or, so that nothing waits for ever, ten seconds have passed.
    private func run(_ session: inout Session, until isOver: ([SessionEvent.Kind], Duration) -> Bool) throws
        -> [SessionEvent.Kind]
    {
        let begin = ContinuousClock.now
        var kinds: [SessionEvent.Kind] = []
        while case let passed = ContinuousClock.now - begin, passed < .seconds(10), !isOver(kinds, passed) {
            _ = try session.step { event in
                if case .region(let kind, _) = event { kinds.append(kind) }
            }
        }
        return kinds
    }

    @Test("While it is gone nothing leaves; once it is back, what does not return leaves after its time-out")
    func loss() throws {
        let adapter = ScriptedAdapter()
        adapter.beacon = Self.frame
        var configuration = SessionConfiguration()
        configuration.regions = [Self.region]
        var session = Session(configuration, source: try adapter.makeSource(), pace: .fastest)

        #expect(try run(&session) { kinds, _ in !kinds.isEmpty } == [.enter])

        adapter.state = .poweredOff
        #expect(try run(&session) { _, passed in passed > .seconds(1) } == [])

        adapter.beacon = nil
        adapter.state = .poweredOn
        #expect(try run(&session) { kinds, _ in !kinds.isEmpty } == [.exit])
    }

    @Test("What is still there when it is back does not enter again")
    func comeback() throws {
        let adapter = ScriptedAdapter()
        adapter.beacon = Self.frame
        var configuration = SessionConfiguration()
        configuration.regions = [Self.region]
        var session = Session(configuration, source: try adapter.makeSource(), pace: .fastest)
        #expect(try run(&session) { kinds, _ in !kinds.isEmpty } == [.enter])
        adapter.state = .unsupported
        #expect(try run(&session) { _, passed in passed > .milliseconds(600) } == [])
        adapter.state = .poweredOn
        #expect(try run(&session) { _, passed in passed > .milliseconds(600) } == [])
    }
}
