/// An advert to send: a beacon's, or that of a device with a name and services.
///
/// A beacon's frame fills its advert, so that its name and its services go to the scan response, and so does a long
/// name. Receivers that ask for it hear the scan response.
public struct OutgoingAdvert: Hashable, Sendable {
    /// The beacon's frame; nil for a device that is no beacon.
    public var frame: IBeaconFrame?

    /// The device's name; nil for none.
    public var localName: String?

    /// The services that the device has.
    public var services: [ServiceUUID]

    /// The advert of a beacon.
    public init(_ frame: IBeaconFrame) { self.init(frame: frame, localName: nil, services: []) }

    /// An advert from its parts.
    public init(frame: IBeaconFrame?, localName: String?, services: [ServiceUUID]) {
        self.frame = frame
        self.localName = localName
        self.services = services
    }

    /// The most bytes of an advert, and of a scan response.
    private static let room = 31

    /// The AD structures of the advert.
    public var advert: [UInt8] { layout.advert }

    /// The AD structures of the answer to a scan request; none where all is in the advert.
    public var scanResponse: [UInt8] { layout.scanResponse }

    /// True where all services have a place in one of the two, and the name is not cut off.
    public var isWhole: Bool { layout.isWhole }

    private struct Layout {
        var advert: [UInt8]
        var scanResponse: [UInt8] = []
        var isWhole = true

        /// Adds a structure, where it has a place.
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

        /// The most bytes that a value may have.
        var largestValue: Int { OutgoingAdvert.room - 2 - min(advert.count, scanResponse.count) }
    }

    private var layout: Layout {
        // General discoverable, without BR/EDR, as a beacon's.
        var layout = Layout(advert: frame?.advert ?? [0x02, AdvertisingStructure.flags, 0x06])
        for (width, complete) in [(2, UInt8(0x03)), (4, 0x05), (16, 0x07)] {
            let uuids = services.map(\.bytes).filter { $0.count == width }
            guard !uuids.isEmpty else { continue }
            // The type with the number below means an incomplete list.
            // As many as fit into one of the two, and the others into the other one.
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
        // Cut off between two characters.
        var name = Substring(localName)
        while !name.isEmpty, name.utf8.count > layout.largestValue { name.removeLast() }
        if !name.isEmpty { _ = layout.add(0x08, Array(name.utf8)) }
        return layout
    }
}
