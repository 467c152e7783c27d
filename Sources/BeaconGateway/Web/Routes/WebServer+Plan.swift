import Foundation
import HTTPTypes
import Hummingbird
import NIOCore

/// The plan of the building: where receivers and beacons are, and a picture behind them.
extension WebServer {
    /// The largest picture, in bytes.
    private static let largestPicture = 4 << 20

    /// The most points of a plan, and the largest building, in metres.
    private static let mostPoints = 1_000
    private static let largestSide = 10_000.0

    private static let pictureTypes = ["image/png", "image/jpeg", "image/webp", "image/svg+xml"]

    private struct Plan: Codable {
        var width = 0.0
        var height = 0.0
        var receivers: [String: [Double]] = [:]
        var beacons: [String: [Double]] = [:]
    }

    private struct PlanValue: Encodable {
        var width: Double
        var height: Double
        @Nullable var image: String?
        var receivers: [String: [Double]]
        var beacons: [String: [Double]]
    }

    /// The picture as it is kept: its type, a line's end, its bytes.
    private struct Picture {
        var type: String
        var bytes: Data

        init(type: String, bytes: Data) { (self.type, self.bytes) = (type, bytes) }

        init?(_ data: Data) {
            guard let end = data.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
            type = String(decoding: data[..<end], as: UTF8.self)
            bytes = data[data.index(after: end)...]
        }

        var data: Data { Data("\(type)\n".utf8) + bytes }
    }

    func addPlan(to router: RouterGroup<WebContext>) {
        router.get("plan") { _, _ in try Response.json(try await planValue()) }
        router.put("plan") { request, _ in
            var request = request
            let plan = try await request.value(Plan.self)
            try Self.check(plan)
            try await state.set(.plan, to: JSONEncoder().encode(plan))
            broadcast.send(.changed([.plan]))
            return try Response.json(try await planValue())
        }
        router.get("plan/image") { _, _ in
            guard let picture = try await picture() else { throw Problem(.notFound, "the plan has no picture") }
            return Response(
                status: .ok,
                headers: [
                    .contentType: picture.type, .cacheControl: "private, max-age=3600",
                    // A drawing that somebody opens by itself runs nothing, and loads nothing.
                    .contentSecurityPolicy: "default-src 'none'; style-src 'unsafe-inline'; sandbox",
                ],
                body: .init(byteBuffer: ByteBuffer(bytes: picture.bytes)))
        }
        router.put("plan/image") { request, _ in
            let media = request.headers[.contentType]?.split(separator: ";").first.map { $0.lowercased() } ?? ""
            guard Self.pictureTypes.contains(media) else {
                throw Problem(.unsupportedMediaType, "send a picture: \(Self.pictureTypes.joined(separator: ", "))")
            }
            var request = request
            let body = try await request.collectBody(upTo: Self.largestPicture)
            guard body.readableBytes > 0 else { throw Problem(.unprocessableContent, "the picture is empty") }
            let picture = Picture(type: media, bytes: Data(body.readableBytesView))
            try await state.set(.planPicture, to: picture.data)
            broadcast.send(.changed([.plan]))
            return try Response.json(try await planValue())
        }
        router.delete("plan/image") { _, _ in
            try await state.set(.planPicture, to: nil)
            broadcast.send(.changed([.plan]))
            return try Response.json(try await planValue())
        }
    }

    private func picture() async throws -> Picture? { try await state.value(of: .planPicture).flatMap(Picture.init) }

    private func planValue() async throws -> PlanValue {
        let plan = try await state.value(of: .plan).flatMap { try? JSONDecoder().decode(Plan.self, from: $0) } ?? Plan()
        // With another picture comes another address, so that browsers keep none that is old.
        let image = try await picture().map { "v1/plan/image?\(AccessToken.hash(of: $0.bytes).prefix(16))" }
        return PlanValue(
            width: plan.width, height: plan.height, image: image, receivers: plan.receivers, beacons: plan.beacons)
    }

    private static func check(_ plan: Plan) throws {
        for (key, side) in [("width", plan.width), ("height", plan.height)] where !(0...largestSide).contains(side) {
            let what = "is a length from 0 to \(Int(largestSide)) metres"
            throw Problem(.unprocessableContent, "\"\(key)\" \(what)", errors: [.init(key: key, detail: what)])
        }
        for (key, points) in [("receivers", plan.receivers), ("beacons", plan.beacons)] {
            let isValid =
                points.count <= mostPoints
                && points.allSatisfy {
                    $0.key.count <= 200 && $0.value.count == 2 && $0.value.allSatisfy { abs($0) <= largestSide }
                }
            guard isValid else {
                let what = "has at most \(mostPoints) names, each with [x, y] in metres"
                throw Problem(.unprocessableContent, "\"\(key)\" \(what)", errors: [.init(key: key, detail: what)])
            }
        }
    }
}
