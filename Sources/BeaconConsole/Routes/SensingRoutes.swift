import BeaconGateway
import BeaconModel
import BeaconSupport
import Foundation
import Hummingbird
import NIOCore

/// Routes of sources, receivers, regions, places and beacons.
struct SensingRoutes: Sendable {
    let gateway: Gateway

    private struct Beacons: Codable, Sendable {
        var time: Double
        var beacons: [RangedBeaconValue]
    }

    private struct Sources: Codable, Sendable {
        var sources: [SourceValue]
    }

    private struct Receivers: Codable, Sendable {
        var receivers: [ReceiverValue]
    }

    func add(to router: InterfaceRouter) {
        addRecording(to: router)
        router.on(
            .get, "sources", Operation("listSources", .sensing, "List the sources of adverts", "The sources.")
        ) { _, _ in Sources(sources: await gateway.sourceValues) }
        router.on(
            .get, "receivers", Operation("listReceivers", .sensing, "List the receivers", "The receivers.")
        ) { _, _ in Receivers(receivers: await gateway.receiverValues) }
        router.on(
            .get, "beacons",
            Operation(
                "listBeacons", .sensing, "List the beacons of the newest reports",
                "The beacons, each as its nearest receiver heard it.",
                details:
                    "The beacons that are ranged at the moment, for the configuration or for a client of ranging/stream with scope=regions. The request itself ranges nothing."
            )
        ) { _, _ in
            Beacons(time: await gateway.newestTime.seconds, beacons: await gateway.beaconValues)
        }
        router.respond(
            .get, "ranging/stream",
            Operation(
                "streamRanging", .sensing, "Range beacons",
                "Server-sent events without an end. ranging: a Ranging as JSON, for each second, receiver and region.",
                details: "Ranges while the connection is open. At most 64 connections range at once.",
                parameters: [
                    .query(
                        "region", "The beacons to range; all without it.",
                        [
                            "type": "array",
                            "items": .component("ConstraintText"),
                            "maxItems": .integer(Int64(Self.mostConstraints)),
                        ], example: ["f7826da6-4fa2-4e98-8024-bc5b71e0893e/1"]),
                    .words(
                        "scope",
                        "regions: the beacons of all regions of the configuration, also after it changes. Without \"region\".",
                        ["regions"]),
                ], errors: [.tooMany],
                answers: [.text("text/event-stream", of: [RangingValue.self])])
        ) { request, _ in
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

    /// Adds the recording of adverts, as a sighting log.
    private func addRecording(to router: InterfaceRouter) {
        router.respond(
            .get, "sightings",
            Operation(
                "recordSightings", .sensing, "Record adverts",
                "A sighting log, which ends with the time: each advert as a line of JSON. Empty lines keep the connection open.",
                details: "At most 8 connections record at once. One that takes the lines too slowly is closed.",
                parameters: [
                    .number("seconds", "The time to record.", 1...Int64(Self.longestRecording), default: 60, example: 1)
                ],
                errors: [.tooMany], answers: [.text("application/x-ndjson")], headers: ["Content-Disposition"])
        ) { request, _ in
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
