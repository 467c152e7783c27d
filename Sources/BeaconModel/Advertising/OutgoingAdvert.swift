/// An advert to send, from a beacon or from a device with a name and services.
///
/// A beacon's frame fills its advert, so its name and its services are in the scan response, and so is a long name.
/// Only active scans receive the scan response.
public struct OutgoingAdvert: Hashable, Sendable {
    /// The beacon's frame; nil for a device that is not a beacon.
    public var frame: IBeaconFrame?

    /// The device's name; nil for none.
    public var localName: String?

    /// The services that the device offers.
    public var services: [ServiceUUID]

    /// The key that makes the addresses of a simulated phone; nil for a sender with random addresses.
    package var key: IdentityResolvingKey?

    /// Creates the advert of a simulated phone, which is known by its addresses only.
    package init(phone key: IdentityResolvingKey) {
        self.init(frame: nil, localName: nil, services: [])
        self.key = key
    }

    /// Creates the advert of a beacon.
    public init(_ frame: IBeaconFrame) { self.init(frame: frame, localName: nil, services: []) }

    /// Creates an advert from its parts.
    public init(frame: IBeaconFrame?, localName: String?, services: [ServiceUUID]) {
        self.frame = frame
        self.localName = localName
        self.services = services
    }

    /// The maximum number of bytes of an advert and of a scan response.
    private static let room = 31

    /// The AD structures of the advert.
    public var advert: [UInt8] { layout.advert }

    /// The AD structures of the scan response; empty if everything fits into the advert.
    public var scanResponse: [UInt8] { layout.scanResponse }

    /// True if all services fit into the two packets, and the name is complete.
    public var isWhole: Bool { layout.isWhole }

    private struct Layout {
        var advert: [UInt8]
        var scanResponse: [UInt8] = []
        var isWhole = true

        /// Adds a structure if it fits.
        mutating func add(_ type: UInt8, _ value: [UInt8]) -> Bool {
            let structure = [UInt8(truncatingIfNeeded: value.count + 1), type] + value
            if advert.count + structure.count <= OutgoingAdvert.room {
                advert += structure
            } else if scanResponse.count + structure.count <= OutgoingAdvert.room {
                scanResponse += structure
            } else {
                return false
            }
            return true
        }

        /// The maximum number of bytes of a value.
        var largestValue: Int { OutgoingAdvert.room - 2 - min(advert.count, scanResponse.count) }
    }

    private var layout: Layout {
        // General discoverable, without BR/EDR, like a beacon.
        var layout = Layout(advert: frame?.advert ?? [0x02, AdvertisingStructure.flags, 0x06])
        for (width, complete) in [(2, UInt8(0x03)), (4, 0x05), (16, 0x07)] {
            let uuids = services.map(\.bytes).filter { $0.count == width }
            guard !uuids.isEmpty else { continue }
            // The type with the number below means an incomplete list. One packet gets as many as fit, and the other
            // gets the rest.
            var rest = uuids[...]
            while !rest.isEmpty {
                let fitting = stride(from: rest.count, to: 0, by: -1).first { count in
                    layout.add(
                        count == uuids.count ? complete : complete - 1, rest.prefix(count).flatMap { $0.reversed() })
                }
                guard let fitting else { break }
                rest = rest.dropFirst(fitting)
            }
            layout.isWhole = layout.isWhole && rest.isEmpty
        }
        guard let localName, !localName.isEmpty else { return layout }
        if layout.add(0x09, Array(localName.utf8)) { return layout }
        layout.isWhole = false
        // Shortened between two characters.
        var name = Substring(localName)
        while !name.isEmpty, name.utf8.count > layout.largestValue { name.removeLast() }
        if !name.isEmpty { _ = layout.add(0x08, Array(name.utf8)) }
        return layout
    }
}
