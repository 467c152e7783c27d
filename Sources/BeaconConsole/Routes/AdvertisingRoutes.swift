import BeaconGateway
import BeaconModel
import Foundation
import Hummingbird

/// The routes of this machine as a beacon.
struct AdvertisingRoutes: Sendable {
    let gateway: Gateway
    let state: GatewayState

    private struct AdvertisingRequest: Codable, Sendable {
        var uuid: String
        var major: Int
        var minor: Int
        var measuredPower: Int
        var enabled: Bool
    }

    func add(to router: RouterGroup<WebContext>) {
        router.on(.get, "advertising") { _, _ in await gateway.advertisingValue }
        router.on(.put, "advertising") { request, _ in
            let request = try await request.value(of: AdvertisingRequest.self)
            let (beacon, frame) = try Self.beacon(of: request)
            let before = await gateway.advertisingValue
            guard before.possible else { throw Problem(.conflict, before.reason ?? "this machine cannot advertise") }
            try await state.set(.advertising, to: JSONEncoder().encode(request))
            await gateway.advertise(beacon, frame)
            return await gateway.advertisingValue
        }
    }

    private static func beacon(of request: AdvertisingRequest) throws -> (AdvertisingValue.Beacon, IBeaconFrame) {
        var faults: [Problem.Fault] = []
        let uuid = ProximityUUID(request.uuid)
        if uuid == nil { faults.append(.init(key: "uuid", detail: "must be a UUID of 32 hexadecimal digits")) }
        for (key, value) in [("major", request.major), ("minor", request.minor)] where !(0...65_535).contains(value) {
            faults.append(.init(key: key, detail: "\(value) is not a whole number from 0 to 65535"))
        }
        if !(-127 ... -1).contains(request.measuredPower) {
            faults.append(.init(key: "measuredPower", detail: "\(request.measuredPower) is not from -127 to -1 dBm"))
        }
        guard let uuid, faults.isEmpty else {
            throw Problem(.unprocessableContent, "this is not a valid beacon", errors: faults)
        }
        let identity = BeaconIdentity(uuid: uuid, major: UInt16(request.major), minor: UInt16(request.minor))
        return (
            AdvertisingValue.Beacon(
                uuid: uuid.description, major: request.major, minor: request.minor,
                measuredPower: request.measuredPower,
                enabled: request.enabled),
            IBeaconFrame(identity: identity, measuredPower: Int8(request.measuredPower))
        )
    }

    /// Returns the beacon that this machine was before a restart, or nil without one.
    static func stored(in state: GatewayState) async -> (AdvertisingValue.Beacon, IBeaconFrame)? {
        guard let data = try? await state.value(of: .advertising),
            let request = try? JSONDecoder().decode(AdvertisingRequest.self, from: data)
        else { return nil }
        return try? beacon(of: request)
    }
}
