import BeaconGateway
import BeaconSupport
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore

/// The routes of the building plan and its picture.
struct PlanRoutes: Sendable {
    let gateway: Gateway
    let state: GatewayState
    let broadcast: EventBroadcast

    /// The largest picture, in bytes.
    private static let largestPicture = 4 << 20

    private static let pictureTypes = ["image/png", "image/jpeg", "image/webp", "image/svg+xml"]

    private struct PlanValue: Encodable, Sendable {
        var width: Double
        var height: Double
        @Nullable var image: String?
        var receivers: [String: [Double]]
        var beacons: [String: [Double]]
        var rooms: [BuildingPlan.Room]
        var doors: [[Double]]
    }

    /// The stored form of a picture: its type, a line feed, its bytes.
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

    func add(to router: RouterGroup<WebContext>) {
        router.on(.get, "plan") { _, _ in try await planValue() }
        router.on(.put, "plan") { request, _ in
            let plan = try await request.value(of: BuildingPlan.self)
            if let (key, what) = plan.mistake {
                throw Problem(.unprocessableContent, key: key, what)
            }
            try await state.set(.plan, to: JSONEncoder().encode(plan))
            await gateway.usePlan(plan)
            broadcast.send(.changed([.plan]))
            return try await planValue()
        }
        router.respond(.get, "plan/image") { _, _ in
            guard let picture = try await picture() else { throw Problem(.notFound, "the plan has no picture") }
            return Response(
                status: .ok,
                headers: [
                    .contentType: picture.type, .cacheControl: "private, max-age=3600",
                    // If a browser opens an SVG on its own, the SVG must not run or load anything.
                    .contentSecurityPolicy: "default-src 'none'; style-src 'unsafe-inline'; sandbox",
                ],
                body: .init(byteBuffer: ByteBuffer(bytes: picture.bytes)))
        }
        router.on(.put, "plan/image") { request, _ in
            let media = request.headers[.contentType]?.split(separator: ";").first.map { $0.lowercased() } ?? ""
            let isBare = media == "application/octet-stream"
            guard isBare || Self.pictureTypes.contains(media) else { throw Self.noPicture }
            var request = request
            let body = Data(try await request.collectBody(upTo: Self.largestPicture).readableBytesView)
            guard !body.isEmpty else { throw Problem(.unprocessableContent, "the picture is empty") }
            guard let type = isBare ? Self.type(of: body) : media else { throw Self.noPicture }
            let picture = Picture(type: type, bytes: body)
            try await state.set(.planPicture, to: picture.data)
            broadcast.send(.changed([.plan]))
            return try await planValue()
        }
        router.on(.delete, "plan/image") { _, _ in
            try await state.set(.planPicture, to: nil)
            broadcast.send(.changed([.plan]))
            return try await planValue()
        }
    }

    private static let noPicture = Problem(
        .unsupportedMediaType, "send a picture: \(pictureTypes.joined(separator: ", "))")

    /// Returns the type of a picture by its first bytes, for programs that cannot name it.
    private static func type(of picture: Data) -> String? {
        if picture.starts(with: [0x89, 0x50, 0x4E, 0x47]) { return "image/png" }
        if picture.starts(with: [0xFF, 0xD8, 0xFF]) { return "image/jpeg" }
        let head = String(decoding: picture.prefix(512), as: UTF8.self)
        if head.hasPrefix("RIFF"), head.contains("WEBP") { return "image/webp" }
        return head.contains("<svg") ? "image/svg+xml" : nil
    }

    private func picture() async throws -> Picture? { try await state.value(of: .planPicture).flatMap(Picture.init) }

    private func planValue() async throws -> PlanValue {
        let plan = try await state.buildingPlan()
        // A new picture has a new address, so that browsers do not show an old one from their cache.
        let image = try await picture().map { "v1/plan/image?\(String(StableHash.fnv1a($0.bytes), radix: 16))" }
        return PlanValue(
            width: plan.width, height: plan.height, image: image, receivers: plan.receivers, beacons: plan.beacons,
            rooms: plan.rooms, doors: plan.doors)
    }
}
