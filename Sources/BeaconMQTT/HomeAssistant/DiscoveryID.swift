import BeaconModel

/// What Home Assistant knows a beacon by. It is made of the gateway's id and the beacon's identity, and not of names, so
/// that a device keeps its place, its history and its automations when somebody renames it.
struct DiscoveryID: Hashable, Sendable {
    /// The gateway's id.
    var node: String

    /// The beacon.
    var identity: BeaconIdentity

    /// `NODE_UUID_MAJOR_MINOR`, of the characters that a discovery topic may have.
    var text: String {
        let uuid = identity.uuid.description.filter { $0 != "-" }
        return "\(node)_\(uuid)_\(identity.major)_\(identity.minor)"
    }

    init(node: String, identity: BeaconIdentity) {
        self.node = node
        self.identity = identity
    }

    /// Reads what ``text`` writes, and nothing else: others' devices are not ours to remove.
    init?(_ text: some StringProtocol) {
        let parts = text.split(separator: "_", omittingEmptySubsequences: false)
        guard parts.count >= 4,
            let uuid = ProximityUUID(parts[parts.count - 3]), let major = UInt16(parts[parts.count - 2]),
            let minor = UInt16(parts[parts.count - 1])
        else { return nil }
        node = parts.dropLast(3).joined(separator: "_")
        identity = BeaconIdentity(uuid: uuid, major: major, minor: minor)
        guard self.text == text else { return nil }
    }

    /// A gateway's id from its client id: what a discovery topic may not have becomes `_`.
    static func node(from clientID: String) -> String {
        String(
            clientID.unicodeScalars.map { scalar -> Character in
                switch scalar {
                case "a"..."z", "A"..."Z", "0"..."9", "_", "-": Character(scalar)
                default: "_"
                }
            })
    }
}
