import BeaconDelivery
import BeaconEventStore
import BeaconModel
import Foundation
import Testing

@testable import BeaconGateway

@Suite("Events whose time was corrected")
struct CorrectedTimeTests {
    private let wrong = Timestamp(nanoseconds: 65_000_000_000)
    private let right = Timestamp(nanoseconds: 1_795_806_000_250_000_000)
    private let constraint = BeaconConstraint(uuid: ProximityUUID(high: 1, low: 2), major: 1, minor: 2)
    private var ids = EventIDs()

    @Test("A notification is sent with the event's time")
    mutating func notification() throws {
        var notification = BeaconNotification(id: ids.next(at: wrong), kind: .enter, time: wrong)
        notification.region = .init(name: "hall", constraint: constraint)
        var event = try notification.event()
        event.time = right
        let sent = try #require(BeaconNotification(event))
        #expect(sent.time == right && sent.region == notification.region)
        #expect(String(decoding: try JSONEncoder().encode(sent), as: UTF8.self).contains("\"time\":1795806000.25"))
    }

    @Test("The history has the event's time, also in its JSON, but not in that of senders")
    mutating func history() throws {
        let change = RegionEvent(
            .enter, name: "hall", constraint: constraint, time: wrong, receiver: "hci0", state: .inside,
            before: .outside)
        let written = try #require(HistoryEvent(change))
        var event = written.event(ids.next(at: wrong), for: [])
        #expect(try #require(HistoryEvent(event)).detail == written.detail)
        event.time = right
        let read = try #require(HistoryEvent(event))
        #expect(read.time == right)
        #expect(read.detail == written.detail.replacing("{\"time\":65.000", with: "{\"time\":1795806000.250"))
        event.sender = "app"
        #expect(try #require(HistoryEvent(event)).detail == written.detail)
    }
}
