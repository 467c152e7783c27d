import BeaconModel

/// The id of a device in Home Assistant. It consists of the gateway's id and a beacon's identity, or the key of a
/// region, a place or a receiver. It does not contain the name of a beacon, a region or a place, so that a device keeps
/// its history and its automations when a user renames it.
struct DiscoveryID: Hashable, Sendable {
    /// The subject of a device.
    enum Subject: Hashable, Sendable {
        case beacon(BeaconIdentity)
        /// A beacon with an id, by its escaped id.
        case namedBeacon(String)
        /// A region, by its escaped key.
        case region(String)
        /// A place, by its escaped key.
        case place(String)
        /// A receiver, by its escaped name.
        case receiver(String)
        /// The gateway itself.
        case gateway
    }

    /// The gateway's id.
    var node: String

    var subject: Subject

    /// The text form, `NODE_UUID_MAJOR_MINOR`, `NODE_gateway`, or `NODE_region_KEY` and the same for a beacon with an
    /// id, a place and a receiver, with only characters that are valid in a discovery topic.
    var text: String {
        switch subject {
        case .beacon(let identity):
            let uuid = identity.uuid.description.filter { $0 != "-" }
            return "\(node)_\(uuid)_\(identity.major)_\(identity.minor)"
        case .namedBeacon(let key): return node + Self.beaconMark + key
        case .region(let key): return node + Self.regionMark + key
        case .place(let key): return node + Self.placeMark + key
        case .receiver(let name): return node + Self.receiverMark + name
        case .gateway: return node + Self.gatewayMark
        }
    }

    /// The texts between a gateway's id and a key. Escaped texts cannot contain them, because in them an underscore is
    /// followed by another underscore or by hexadecimal digits.
    private static let (regionMark, placeMark, receiverMark) = ("_region_", "_place_", "_receiver_")
    private static let beaconMark = "_beacon_"

    /// The text after a gateway's id in the id of the gateway's device. Escaped texts cannot contain it either.
    private static let gatewayMark = "_gateway"

    init(node: String, subject: Subject) {
        self.node = node
        self.subject = subject
    }

    /// Parses the form of ``text`` for one gateway only, so that devices of other programs are not removed.
    init?(_ text: some StringProtocol, of node: String) {
        if text == node + Self.gatewayMark {
            self.init(node: node, subject: .gateway)
        } else if let mark = [Self.regionMark, Self.placeMark, Self.receiverMark, Self.beaconMark]
            .first(where: { text.hasPrefix(node + $0) })
        {
            let key = String(text.dropFirst(node.count + mark.count))
            guard Self.isEscaped(key) else { return nil }
            let subject: Subject =
                switch mark {
                case Self.placeMark: .place(key)
                case Self.receiverMark: .receiver(key)
                case Self.beaconMark: .namedBeacon(key)
                default: .region(key)
                }
            self.init(node: node, subject: subject)
        } else {
            guard text.hasPrefix(node + "_") else { return nil }
            let parts = text.dropFirst(node.count + 1).split(separator: "_", omittingEmptySubsequences: false)
            guard parts.count == 3, let uuid = ProximityUUID(parts[0]), let major = UInt16(parts[1]),
                let minor = UInt16(parts[2])
            else { return nil }
            self.init(
                node: node, subject: .beacon(BeaconIdentity(uuid: uuid, major: major, minor: minor)))
        }
        guard self.text == text else { return nil }
    }

    /// Returns a text as valid characters of an id. `_` is doubled, and each byte of a character that is not valid in a
    /// discovery topic becomes `_` and two hexadecimal digits. Different texts give different results.
    static func escape(_ text: String) -> String {
        text.utf8.map { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
                return String(UnicodeScalar(byte))
            case UInt8(ascii: "_"): return "__"
            default: return "_" + TopicLevel.digits(of: byte)
            }
        }.joined()
    }

    /// Returns whether a text is a possible result of ``escape(_:)``.
    private static func isEscaped(_ text: String) -> Bool {
        var rest = Array(text.utf8)[...]
        var bytes: [UInt8] = []
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "_") else {
                bytes.append(byte)
                continue
            }
            if rest.first == byte {
                rest.removeFirst()
                bytes.append(byte)
            } else {
                guard let escaped = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16) else {
                    return false
                }
                rest = rest.dropFirst(2)
                bytes.append(escaped)
            }
        }
        return String(validating: bytes, as: UTF8.self).map { escape($0) == text } ?? false
    }
}
