import BeaconModel
import BeaconRadio

// ESPresense: espresense/devices/ID/NODE, an object for each report, at most some a second (ESPresense,
// src/BleFingerprint.cpp, fill). An iBeacon's id is iBeacon:UUID-MAJOR-MINOR. The signal strength is smoothed.

extension ReceiverNetwork {
    mutating func readESPresense(
        _ node: String, _ message: Message, _ payload: RawSpan, _ deliver: (Reception, RawSpan) throws -> Void
    ) rethrows -> MessageFault? {
        guard let receiver = place(of: node, .espresense, message) else { return .tooManyReceivers }
        var (rssi, power): (Int?, Int?)
        var (id, mac): (JSONValue?, JSONValue?)
        guard let object = payload.json,
            payload.forEachMember(
                of: object,
                { key, value in
                    switch key.range.count {
                    case 2 where payload.equals(key.range, "id"): id = value
                    case 3 where payload.equals(key.range, "mac"): mac = value
                    case 4 where payload.equals(key.range, "rssi"): rssi = payload.integer(value)
                    case 7 where payload.equals(key.range, "rssi@1m"): power = payload.integer(value)
                    default: break
                    }
                    return true
                })
        else { return MessageFault("an ESPresense message", "it is no JSON object") }
        guard let rssi, let id else { return MessageFault("an ESPresense message", "it has no \"rssi\" or no \"id\"") }
        guard let identity = Self.identity(id, payload) else {
            noteOther(receiver, message)
            return nil
        }
        let frame = IBeaconFrame(
            identity: identity,
            measuredPower: power.flatMap { Int8(exactly: $0) } ?? IBeaconFrame.defaultMeasuredPower)
        try hear(
            receiver, message, address: mac.flatMap { payload.address($0.range) }, rssi: rssi, frame: frame, deliver)
        return nil
    }

    /// Returns the identity of `iBeacon:UUID-MAJOR-MINOR`; nil for what is no iBeacon.
    private static func identity(_ id: JSONValue, _ payload: RawSpan) -> BeaconIdentity? {
        let (start, end) = (id.range.lowerBound, id.range.upperBound)
        guard id.kind == .string, id.range.count >= 48, id.range.count <= 56,
            payload.equals(start..<start + 8, "iBeacon:"), let uuid = payload.uuid(start + 8..<start + 44),
            payload.equals(start + 44..<start + 45, "-")
        else { return nil }
        let numbers = payload.text(start + 45..<end).split(separator: "-", omittingEmptySubsequences: false)
        guard numbers.count == 2, let major = UInt16(numbers[0]), let minor = UInt16(numbers[1]) else { return nil }
        return BeaconIdentity(uuid: uuid, major: major, minor: minor)
    }
}
