import BeaconGateway
import BeaconModel
import BeaconSupport
import Foundation
import Hummingbird
import NIOCore

/// Routes of sources, receivers, regions, places and beacons.
struct SensingRoutes: Sendable {
    let gateway: Gateway

    func add(to router: RouterGroup<WebContext>) {
        addRecording(to: router)
        router.get("sources") { _, _ in try Response.json(["sources": await gateway.sourceValues]) }
        router.get("receivers") { _, _ in try Response.json(["receivers": await gateway.receiverValues]) }
        router.get("beacons") { _, _ in
            struct Answer: Encodable {
                var time: Double
                var beacons: [RangedValue]
            }
            return try Response.json(
                Answer(time: await gateway.newestTime.seconds, beacons: await gateway.beaconValues))
        }
        router.get("ranging/stream") { request, _ in
            let scope = try Self.scope(of: request)
            // The headers alone: a radio ranges for a client that listens.
            guard request.method != .head else { return EventStreamResponse.response { _ in } }
            guard let reports = await gateway.range(scope) else {
                throw Problem(.tooManyRequests, "too many clients range beacons already; close another window")
            }
            return EventStreamResponse.response(
                reports.map { report in
                    // Where no receiver hears there is nothing to say, and the connection is there.
                    guard let report else { return EventStreamResponse.comment }
                    return EventStreamResponse.text(
                        "ranging", data: (try? JSONEncoder.interface.encode(report)) ?? Data("{}".utf8))
                })
        }
    }

    /// The longest recording, in seconds.
    private static let longestRecording = 3_600

    /// Adds the recording of what is heard, as a sighting log.
    private func addRecording(to router: RouterGroup<WebContext>) {
        router.get("sightings") { request, _ in
            let seconds = try request.number("seconds", 1...Self.longestRecording) ?? 60
            guard let lines = await gateway.record(for: .seconds(seconds)) else {
                throw Problem(.tooManyRequests, "too many record already; wait for one of them to end")
            }
            return Response(
                status: .ok,
                headers: [
                    .contentType: "application/x-ndjson", .cacheControl: "no-store", .accelBuffering: "no",
                    .contentDisposition: "attachment; filename=\"sightings.ndjson\"",
                ],
                body: .init { writer in
                    for await piece in lines { try await writer.write(ByteBuffer(bytes: piece)) }
                    try await writer.finish(nil)
                })
        }
    }

    /// The most constraints of one request.
    private static let mostConstraints = 20

    private static func scope(of request: Request) throws -> ListeningClients.Scope {
        let texts = request.parameters("region")
        if let scope = request.parameter("scope") {
            guard scope == "regions", texts.isEmpty else {
                throw Problem(
                    .badRequest, "\"scope\" is \"regions\", without \"region\"; or name each \"region\"",
                    errors: [.init(key: "scope", detail: "is \"regions\", without \"region\"")])
            }
            return .regions
        }
        guard texts.count <= mostConstraints else {
            throw Problem(.badRequest, "there are \(texts.count) regions; \(mostConstraints) can be ranged at once")
        }
        guard !texts.isEmpty else { return .constraints([nil]) }
        let constraints: [BeaconConstraint?] = try texts.map { text in
            guard let constraint = BeaconConstraint(text) else {
                throw Problem(
                    .badRequest,
                    "\"\(text.prefix(100).description.printable)\" is no region; write UUID, UUID/MAJOR or UUID/MAJOR/MINOR",
                    errors: [.init(key: "region", detail: "is no UUID[/MAJOR[/MINOR]]")])
            }
            return constraint
        }
        return .constraints(constraints)
    }
}
