import BeaconDelivery
import BeaconEventStore
import BeaconGateway
import BeaconModel
import BeaconSupport
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore

/// The routes of events: past events, the event stream, and exports.
struct EventRoutes: Sendable {
    let history: EventHistory
    let state: GatewayState
    let broadcast: EventBroadcast

    /// The largest number of events in one answer.
    private static let maximumEvents = 1_000

    /// The largest number of events in an export.
    private static let maximumExported = 1_000_000

    func add(to router: RouterGroup<WebContext>) {
        router.respond(.get, "events") { request, _ in
            let query = try Self.query(of: request)
            let page = try await history.page(query)
            var body = [UInt8]("{\"events\":[".utf8)
            body += page.events.map { $0.event.head($0.number) }.joined(separator: ",".utf8)
            body += Array("],\"next\":\(page.next.map(String.init) ?? "null")}".utf8)
            return Response.json(bytes: body)
        }
        router.on(.get, "events/counts") { request, _ in
            let query = try Self.query(of: request)
            guard let from = query.from, let to = query.to, from < to else {
                throw Problem(
                    .badRequest, "pass \"from\" and \"to\", with \"from\" before \"to\"", key: "from",
                    "must be a time before \"to\"")
            }
            let steps = try request.number("steps", 1...1_000) ?? 100
            let counts = try await history.store.counts(query, from: from, to: to, steps: steps)
            return EventCounts(from: from.seconds, to: to.seconds, steps: steps, counts: counts)
        }
        router.respond(.get, "events/stream") { request, _ in
            // Subscribe before reading the past, so that no event is lost in between.
            let messages = broadcast.messages()
            let newest = try await history.store.newest()
            // A number above the newest belongs to a deleted history.
            let last = request.headers[.lastEventID].flatMap { Int64($0) }.flatMap { $0 <= newest ? $0 : nil }
            return EventStreamResponse.response { write in
                var seen = last ?? -1
                // The events that were sent before they were stored.
                var reported: Set<EventID> = []
                if last != nil { try await writeMissed(&seen, write) }
                for await message in messages {
                    switch message {
                    case .event(let id, let number, let json):
                        // It was stored while earlier events were read.
                        if let number, number <= seen || reported.remove(id) != nil { continue }
                        if number == nil { reported.insert(id) }
                        try await write(EventStreamResponse.text("event", number: number, data: json))
                    case .changed(let topics):
                        let names = topics.map(\.rawValue).sorted().map { "\"\($0)\":true" }.joined(separator: ",")
                        try await write(EventStreamResponse.text("state", data: "{\(names)}".utf8))
                    case .heartbeat: try await write(EventStreamResponse.comment)
                    }
                }
            }
        }
        router.respond(.get, "events/export") { request, _ in
            let format = request.parameter("format") ?? "csv"
            guard ["csv", "log"].contains(format) else {
                throw Problem(.badRequest, "unknown format \"\(format.prefix(40))\"; use csv or log")
            }
            return export(format, try Self.query(of: request))
        }
    }

    private struct EventCounts: Encodable, Sendable {
        var from: Double
        var to: Double
        var steps: Int
        /// The number of events in each step, by kind.
        var counts: [String: [Int]]
    }

    /// Writes the events that a reconnected listener has missed, the oldest first.
    ///
    /// - Parameter seen: the number of the listener's last event; on return, the number of the last written event.
    private func writeMissed(_ seen: inout Int64, _ write: (ByteBuffer) async throws -> Void) async throws {
        while true {
            let (events, last) = try await history.events(after: seen, limit: Self.maximumEvents)
            for event in events {
                let json = event.event.head(event.number)
                try await write(EventStreamResponse.text("event", number: event.number, data: json))
            }
            guard let last else { return }
            seen = last
        }
    }

    private static func query(of request: Request) throws -> EventQuery {
        func number<Value>(_ key: String, _ read: (String) -> Value?, _ what: String) throws -> Value? {
            guard let text = request.parameter(key) else { return nil }
            guard let value = read(text) else {
                throw Problem(.badRequest, key: key, "is not a \(what)")
            }
            return value
        }
        var query = EventHistory.everything
        query.limit =
            try number(
                "limit", { Int($0).flatMap { (1...maximumEvents).contains($0) ? $0 : nil } },
                "number from 1 to \(maximumEvents)") ?? 100
        query.before = try number("before", { Int64($0).flatMap { $0 > 0 ? $0 : nil } }, "valid event number")
        query.from = try number(
            "from", { Double($0).flatMap(Timestamp.init(since1970:)) }, "time in seconds since 1970")
        query.to = try number("to", { Double($0).flatMap(Timestamp.init(since1970:)) }, "time in seconds since 1970")
        query.region = request.parameter("region")
        query.place = request.parameter("place")
        query.install = request.parameter("install")
        if let kinds = request.parameter("kind"), !kinds.isEmpty {
            query.kinds = try kinds.split(separator: ",").map { word in
                guard let kind = BeaconNotification.Kind.shown.first(where: { $0.rawValue == word }) else {
                    let all = BeaconNotification.Kind.shown.map(\.rawValue).joined(separator: ", ")
                    throw Problem(
                        .badRequest, "unknown kind \"\(word.prefix(40).description.printable)\"; the kinds are \(all)",
                        key: "kind", "must be one of \(all)")
                }
                return kind.rawValue
            }
        }
        return query
    }

    // MARK: - Files

    private func export(_ format: String, _ query: EventQuery) -> Response {
        let isTable = format == "csv"
        return Response(
            status: .ok,
            headers: [
                .contentType: isTable ? "text/csv; charset=utf-8" : "application/x-ndjson", .cacheControl: "no-store",
                .contentDisposition: "attachment; filename=\"beacon-events.\(isTable ? "csv" : "ndjson")\"",
            ],
            body: .init { writer in
                if isTable {
                    try await writer.write(
                        ByteBuffer(string: "time,kind,summary,receiver,region,place,beacon,sender,user\n"))
                }
                var query = query
                query.limit = Self.maximumEvents
                var count = 0
                while count < Self.maximumExported {
                    let page = try await history.page(query)
                    var buffer = ByteBuffer()
                    for event in page.events {
                        buffer.writeString(
                            isTable
                                ? Self.row(of: event.event) : String(decoding: event.event.json, as: UTF8.self) + "\n")
                    }
                    try await writer.write(buffer)
                    count += page.events.count
                    query.before = page.next
                    if page.next == nil { break }
                }
                try await writer.finish(nil)
            })
    }

    private static func row(of event: Event) -> String {
        let fields = [
            event.private.text(of: "summary"), event.receiver, event.region, event.place, event.beacon?.description,
            event.sender, event.private.text(of: "user"),
        ].map { BeaconTable.field($0 ?? "") }
        return "\(event.time.decimalSeconds),\(event.kind),\(fields.joined(separator: ","))\n"
    }
}

extension HTTPField.Name {
    fileprivate static let lastEventID = HTTPField.Name("Last-Event-ID") ?? .accept
}
