/// The contents of an advert of any device (Supplement to the Core Specification, Part A, 1).
public struct AdvertContents: Hashable, Sendable {
    /// The device's name, complete or shortened; nil without one.
    public var localName: String?

    /// True if the name is shortened.
    public var isNameShortened = false

    /// The services that the device offers.
    public var services: [ServiceUUID] = []

    /// The services that the device searches for.
    public var solicitedServices: [ServiceUUID] = []

    /// The data of services.
    public var serviceData: [ServiceUUID: [UInt8]] = [:]

    /// The company's identifier, least significant byte first, followed by its data; nil without any.
    public var manufacturerData: [UInt8]?

    /// The transmit power in dBm; nil if the advert does not include it.
    public var transmitPower: Int8?

    /// Creates empty contents.
    public init() {}

    /// Reads an advert or a scan response.
    ///
    /// If there are several manufacturer data, the first count. A complete name takes precedence over a shortened one.
    /// Structures of other types, and values that are too short for their type, are ignored.
    public init(advert: RawSpan) {
        var cursor = AdvertisingStructureCursor()
        while let structure = cursor.next(in: advert) {
            let value = advert.extracting(structure.offset..<structure.offset + structure.count)
            let bytes = value.withUnsafeBytes { [UInt8]($0) }
            switch structure.type {
            case 0x02, 0x03: services += Self.list(bytes, width: 2)
            case 0x04, 0x05: services += Self.list(bytes, width: 4)
            case 0x06, 0x07: services += Self.list(bytes, width: 16)
            case 0x08, 0x09:
                // A shortened name may end in the middle of a character, or with zeros.
                let name = String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
                if !name.isEmpty, localName == nil || isNameShortened {
                    (localName, isNameShortened) = (name, structure.type == 0x08)
                }
            case 0x0A: transmitPower = bytes.first.map(Int8.init(bitPattern:)) ?? transmitPower
            case 0x14: solicitedServices += Self.list(bytes, width: 2)
            case 0x1F: solicitedServices += Self.list(bytes, width: 4)
            case 0x15: solicitedServices += Self.list(bytes, width: 16)
            case 0x16: addServiceData(bytes, width: 2)
            case 0x20: addServiceData(bytes, width: 4)
            case 0x21: addServiceData(bytes, width: 16)
            case AdvertisingStructure.manufacturerSpecificData: manufacturerData = manufacturerData ?? bytes
            default: break
            }
        }
    }

    /// Returns these contents merged with those of the device's other packet: its scan response, or the advert before
    /// it.
    public func merging(_ other: AdvertContents) -> AdvertContents {
        var both = self
        if localName == nil || isNameShortened && other.localName != nil && !other.isNameShortened {
            (both.localName, both.isNameShortened) = (other.localName, other.isNameShortened)
        }
        both.services += other.services.filter { !services.contains($0) }
        both.solicitedServices += other.solicitedServices.filter { !solicitedServices.contains($0) }
        both.serviceData.merge(other.serviceData) { own, _ in own }
        both.manufacturerData = manufacturerData ?? other.manufacturerData
        both.transmitPower = transmitPower ?? other.transmitPower
        return both
    }

    /// Reads UUIDs of a given width in bytes, least significant byte first.
    private static func list(_ bytes: [UInt8], width: Int) -> [ServiceUUID] {
        stride(from: 0, to: bytes.count - width + 1, by: width).compactMap {
            ServiceUUID(bytes: bytes[$0..<$0 + width].reversed())
        }
    }

    private mutating func addServiceData(_ bytes: [UInt8], width: Int) {
        guard bytes.count >= width, let uuid = ServiceUUID(bytes: bytes.prefix(width).reversed()) else { return }
        serviceData[uuid] = serviceData[uuid] ?? Array(bytes.dropFirst(width))
    }
}
