import BeaconEngine
import BeaconModel
import BeaconService
import Testing

@testable import BeaconGateway

@Suite("Regions that several sources watch")
struct RegionBoardTests {
    private static let constraint = BeaconConstraint(uuid: ProximityUUID(high: 1, low: 2))
    private static let hall = WatchedRegion.region("hall")

    private static func board(_ state: RegionState = .unknown, sources: [Int] = [0, 1]) -> RegionBoard {
        var board = RegionBoard()
        board.add(hall, constraint, assuming: state)
        for source in sources { board.open(source) }
        return board
    }

    private static func event(_ state: RegionState, _ seconds: Int64 = 1) -> SessionEvent.RegionEvent {
        SessionEvent.RegionEvent(
            name: hall.label, constraint: constraint, time: Timestamp(nanoseconds: seconds * 1_000_000_000),
            receiver: "hci0", state: state, before: .unknown)
    }

    @Test("The first that hears enters, and the last that does not exits")
    func together() {
        var board = Self.board()
        let enter = board.receive(Self.event(.inside), from: 0)
        #expect(enter?.kind == .enter && enter?.event.before == .unknown)
        #expect(board.receive(Self.event(.inside, 2), from: 1) == nil)
        #expect(board.receive(Self.event(.outside, 3), from: 0) == nil)
        let exit = board.receive(Self.event(.outside, 4), from: 1)
        #expect(exit?.kind == .exit && exit?.event.before == .inside)
        #expect(exit?.event.time == Timestamp(nanoseconds: 4_000_000_000))
    }

    @Test("That a source fails is no exit; that all others know better is one")
    func failure() {
        var alone = Self.board(sources: [0])
        _ = alone.receive(Self.event(.inside), from: 0)
        #expect(alone.close(0).isEmpty)
        #expect(alone.state(of: Self.hall) == .inside)

        var pair = Self.board()
        _ = pair.receive(Self.event(.inside), from: 0)
        _ = pair.receive(Self.event(.outside, 2), from: 1)
        #expect(pair.close(0).map(\.kind) == [.exit])
    }

    @Test("A source that begins anew assumes what is known, and can say that it is over")
    func reopening() {
        var board = Self.board(.inside, sources: [0])
        #expect(board.receive(Self.event(.inside), from: 0) == nil)
        _ = board.close(0)
        board.open(0)
        #expect(board.receive(Self.event(.outside, 40), from: 0)?.kind == .exit)
    }

    @Test("From unknown to outside is a state, and a region that is gone is nobody's")
    func others() {
        var board = Self.board(sources: [0])
        #expect(board.receive(Self.event(.outside), from: 0)?.kind == .state)
        board.remove(Self.hall)
        #expect(board.receive(Self.event(.inside, 2), from: 0) == nil)
    }
}
