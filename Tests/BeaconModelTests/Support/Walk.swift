import BeaconModel

/// The AD structures of an advert, copied out.
func structures(of advert: [UInt8]) -> [[UInt8]] {
    var cursor = AdvertisingStructureCursor()
    var found: [[UInt8]] = []
    while let structure = cursor.next(in: advert.span.bytes) {
        found.append([structure.type] + advert[structure.offset..<structure.offset + structure.count])
    }
    return found
}

/// The frame in an advert.
func frame(in advert: [UInt8]) -> IBeaconFrame? { IBeaconFrame(advert: advert.span.bytes) }

/// A report with the advert that it tells of, copied out.
struct HeardReport: Hashable {
    var report: AdvertisingReport
    var advertisingSet: UInt8
    var completeness: HCIAdvertisingReport.Completeness
    var advert: [UInt8]
}

/// The reports of an HCI event, from its event code on.
func reports(of event: [UInt8]) -> [HeardReport] {
    var cursor = HCIAdvertisingReportCursor(event: event.span.bytes)
    var found: [HeardReport] = []
    while let next = cursor.next(in: event.span.bytes) {
        found.append(
            HeardReport(
                report: next.report, advertisingSet: next.advertisingSet, completeness: next.completeness,
                advert: Array(event[next.offset..<next.offset + next.count])))
    }
    return found
}
