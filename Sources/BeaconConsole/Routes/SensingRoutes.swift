import BeaconDelivery
import BeaconGateway
import BeaconModel
import BeaconSupport
import Foundation
import Hummingbird
import NIOCore

/// The routes of sources and ranged beacons, and the recording of adverts.
struct SensingRoutes: Sendable {
    let gateway: Gateway

    private struct Beacons: Encodable, Sendable {
        var time: Double
        var beacons: [RangedBeaconValue]
    }

    func add(to router: RouterGroup<WebContext>) {
        addRecording(to: router)
        router.on(.get, "beacons") { _, _ in
            Beacons(time: await gateway.newestTime.seconds, beacons: await gateway.beaconValues)
        }
        router.respond(.get, "ranging/stream") { request, _ in
            let scope = try Self.scope(of: request)
            // Send only the headers. The radio ranges only for clients that listen.
            guard request.method != .head else { return EventStreamResponse.response { _ in } }
            guard let reports = await gateway.range(scope) else {
                throw Problem(.tooManyRequests, "too many clients are ranging beacons; close another window")
            }
            return EventStreamResponse.response(
                reports.map { report in
                    // No receiver hears. The comment keeps the connection open.
                    guard let report else { return EventStreamResponse.comment }
                    return EventStreamResponse.text(
                        "ranging", data: (try? JSONEncoder.sorted.encode(report)) ?? Data("{}".utf8))
                })
        }
    }

    /// The longest recording in seconds.
    private static let longestRecording = 3_600

    /// Adds the route that records adverts as a sighting log.
    private func addRecording(to router: RouterGroup<WebContext>) {
        router.respond(.get, "sightings") { request, _ in
            let seconds = try request.number("seconds", 1...Self.longestRecording) ?? 60
            guard let lines = await gateway.record(for: .seconds(seconds)) else {
                throw Problem(.tooManyRequests, "too many clients are recording; wait until a recording ends")
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

    /// The largest number of constraints in one request.
    private static let maximumConstraints = 20

    private static func scope(of request: Request) throws -> ListeningClients.Scope {
        let texts = request.parameters("region")
        if let scope = request.parameter("scope") {
            guard scope == "regions", texts.isEmpty else {
                throw Problem(
                    .badRequest, "\"scope\" must be \"regions\", without \"region\"; or pass each \"region\"",
                    key: "scope", "must be \"regions\", without \"region\"")
            }
            return .regions
        }
        guard texts.count <= maximumConstraints else {
            throw Problem(
                .badRequest,
                "the request has \(texts.count) regions; at most \(maximumConstraints) can be ranged at once")
        }
        guard !texts.isEmpty else { return .constraints([nil]) }
        let constraints: [BeaconConstraint?] = try texts.map { text in
            guard let constraint = BeaconConstraint(text) else {
                throw Problem(
                    .badRequest,
                    "\"\(text.prefix(100).description.printable)\" is not a region; use UUID, UUID/MAJOR or UUID/MAJOR/MINOR",
                    key: "region", "must be UUID[/MAJOR[/MINOR]]")
            }
            return constraint
        }
        return .constraints(constraints)
    }
}
