import BeaconEngine
import BeaconModel
import Testing

@testable import BeaconMQTT

@Suite("What a broker is to retain")
struct RetainedBoardTests {
    @Test("is the state of configured regions, as it is when it is published")
    func regions() {
        var board = Self.board(regions: ["shop", "a/b"])
        board.receive(.region("shop", .inside))
        board.receive(.region("a/b", .outside))
        board.receive(.region("other", .inside))
        #expect(board.takeDue() == [])
        board.connected()
        #expect(Self.take(&board) == ["g/region/a%2Fb/state=outside", "g/region/shop/state=inside"])
        #expect(Self.take(&board) == [])
        board.receive(.region("shop", .inside))
        #expect(Self.take(&board) == [])
        board.receive(.region("shop", .outside))
        board.receive(.region("shop", .unknown))
        #expect(Self.take(&board) == ["g/region/shop/state=unknown"])
    }

    @Test("is said again after each connection, and nothing meanwhile")
    func connections() {
        var board = Self.board(regions: ["shop"])
        board.connected()
        board.receive(.region("shop", .inside))
        #expect(Self.take(&board) == ["g/region/shop/state=inside"])
        board.disconnected()
        board.receive(.region("shop", .outside))
        #expect(Self.take(&board) == [])
        board.connected()
        #expect(Self.take(&board) == ["g/region/shop/state=outside"])
        board.connected()
        #expect(Self.take(&board) == ["g/region/shop/state=outside"])
    }

    @Test("is tried again as it then is")
    func failure() {
        var board = Self.board(regions: ["shop"])
        board.connected()
        board.receive(.region("shop", .inside))
        let due = board.takeDue()
        board.receive(.region("shop", .outside))
        for message in due { board.failed(message) }
        #expect(Self.take(&board) == ["g/region/shop/state=outside"])
    }

    @Test("is not what an earlier run left, unless it is configured still", arguments: [true, false])
    func leftovers(isEnabled: Bool) {
        var board = Self.board(
            regions: ["shop"], beacons: [NamedBeacon(name: "keys", identity: TestBeacon.keys)], isEnabled: isEnabled)
        board.connected()
        _ = board.takeDue()
        let device = "homeassistant/device/gateway_e2c56db5dffb48d2b060d0f5a71096e0_1"
        for topic in [
            "g/region/shop/state", "g/region/old/state", "g/region/old", "g/beacon/keys/state", "g/beacon/bag/state",
            "g/status", "gg/region/old/state", "other/region/old/state", device + "_2/config", device + "_3/config",
            "homeassistant/device/somebody/config", "homeassistant/sensor/x/config",
        ] {
            board.found(topic)
        }
        var gone: Set = ["g/region/old/state=", "g/region/old=", "g/beacon/bag/state=", device + "_3/config="]
        if !isEnabled { gone.insert(device + "_2/config=") }
        #expect(Set(Self.take(&board)) == gone)
    }

    @Test("is a device of each named beacon, and of no other")
    func devices() {
        var board = Self.board(beacons: [NamedBeacon(name: "keys", identity: TestBeacon.keys)], isEnabled: true)
        board.receive(.presence(.inside, of: TestBeacon.keys, at: 1))
        board.receive(.presence(.inside, of: TestBeacon.bag, at: 1))
        board.receive(.ranged(1, identity: TestBeacon.bag, at: 2))
        board.connected()
        let topics = board.takeDue().map(\.topic)
        #expect(
            topics == [
                "g/beacon/keys/state", "homeassistant/device/gateway_e2c56db5dffb48d2b060d0f5a71096e0_1_2/config",
            ])
        board.announceAgain()
        #expect(board.takeDue().map(\.topic) == Array(topics.suffix(1)))
    }

    private static func board(
        regions: [String] = [], beacons: [NamedBeacon] = [], isEnabled: Bool = false
    ) -> RetainedBoard {
        let topics = TopicTree(base: "g")
        let discovery = Discovery(
            HomeAssistantOptions(isEnabled: isEnabled), broker: .test(port: 1, clientID: "gateway"), topics: topics)
        return RetainedBoard(
            regions: regions, beacons: beacons, topics: topics, discovery: discovery, options: MQTTStateOptions())
    }

    private static func take(_ board: inout RetainedBoard) -> [String] {
        board.takeDue().map { "\($0.topic)=\($0.text)" }
    }
}
