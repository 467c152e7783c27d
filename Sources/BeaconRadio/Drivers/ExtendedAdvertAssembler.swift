public import BeaconModel

/// An assembler of extended adverts that a controller reports in pieces.
///
/// An advert may have 1650 bytes, but a report 229 at most (Core Specification, Vol 4, Part E, 7.7.65.13). The number
/// of incomplete adverts is limited; when it is exceeded, the oldest one is dropped.
public struct ExtendedAdvertAssembler {
    private struct Piece {
        var receiver: ReceiverID
        var address: DeviceAddress
        var advertisingSet: UInt8
        var bytes: [UInt8]
    }

    private static let largestAdvert = 1650
    private static let maximumAtOnce = 32

    private var open: [Piece] = []

    /// Creates an assembler without incomplete adverts.
    public init() {}

    /// Adds a report's bytes.
    ///
    /// - Parameters:
    ///   - part: a report of an extended advert.
    ///   - event: the event that contains the report.
    ///   - receiver: the receiver of the advert.
    ///   - isImpatient: true to deliver the incomplete advert after each piece, since the last piece may never arrive.
    ///   - deliver: called with the whole advert once it is complete. If the controller lost the rest, it receives the
    ///     incomplete advert, whose complete structures are still valid.
    public mutating func add(
        _ part: HCIAdvertisingReport,
        of event: RawSpan,
        from receiver: ReceiverID,
        isImpatient: Bool = false,
        deliver: (RawSpan) throws -> Void
    ) rethrows {
        let bytes = event.extracting(part.offset..<part.offset + part.count)
        let index = open.firstIndex {
            $0.receiver == receiver && $0.address == part.report.address && $0.advertisingSet == part.advertisingSet
        }
        if part.completeness == .moreToCome {
            if let index {
                append(bytes, at: index)
            } else {
                if open.count == Self.maximumAtOnce { open.removeFirst() }
                open.append(
                    Piece(
                        receiver: receiver, address: part.report.address, advertisingSet: part.advertisingSet,
                        bytes: []))
                append(bytes, at: open.count - 1)
            }
            if isImpatient {
                let soFar = open[index ?? open.count - 1].bytes
                try deliver(soFar.span.bytes)
            }
        } else if let index {
            append(bytes, at: index)
            let whole = open.remove(at: index).bytes
            try deliver(whole.span.bytes)
        } else {
            try deliver(bytes)
        }
    }

    private mutating func append(_ bytes: RawSpan, at index: Int) {
        let room = Self.largestAdvert - open[index].bytes.count
        bytes.withUnsafeBytes { open[index].bytes.append(contentsOf: $0.prefix(room)) }
    }
}
