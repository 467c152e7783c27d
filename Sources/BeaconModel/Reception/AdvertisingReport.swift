/// A receiver's report of one advert, without the advert's bytes.
@frozen
public struct AdvertisingReport: Hashable, Sendable, BitwiseCopyable {
    /// The kind of advert, numbered as in legacy HCI events and in the link layer's own reports.
    @frozen
    public enum Kind: UInt8, Hashable, Sendable, BitwiseCopyable {
        /// Connectable and scannable, undirected: ADV_IND.
        case connectable = 0
        /// Connectable, directed: ADV_DIRECT_IND. It carries no data.
        case directed = 1
        /// Scannable: ADV_SCAN_IND.
        case scannable = 2
        /// Neither: ADV_NONCONN_IND, which an iBeacon should be.
        case nonConnectable = 3
        /// The answer to a scan request: SCAN_RSP.
        case scanResponse = 4
        /// An extended advert (Bluetooth 5) of any form.
        case extended = 5
    }

    /// The kind of advert.
    public var kind: Kind

    /// The advertiser's address.
    public var address: DeviceAddress

    /// The received signal strength.
    public var rssi: SignalStrength

    /// Creates a report from its parts.
    @inlinable
    public init(kind: Kind, address: DeviceAddress, rssi: SignalStrength) {
        self.kind = kind
        self.address = address
        self.rssi = rssi
    }
}
