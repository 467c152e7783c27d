import BeaconModel

/// Returns copies of the AD structures of an advert.
func structures(of advert: [UInt8]) -> [[UInt8]] {
    var cursor = AdvertisingStructureCursor()
    var found: [[UInt8]] = []
    while let structure = cursor.next(in: advert.span.bytes) {
        found.append([structure.type] + advert[structure.offset..<structure.offset + structure.count])
    }
    return found
}

/// Returns the frame in an advert.
func frame(in advert: [UInt8]) -> IBeaconFrame? { IBeaconFrame(advert: advert.span.bytes) }

/// A report with a copy of its advert.
struct HeardReport: Hashable {
    var report: AdvertisingReport
    var advertisingSet: UInt8
    var completeness: HCIAdvertisingReport.Completeness
    var advert: [UInt8]
}

/// Returns the reports of an HCI event, from its event code on.
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
