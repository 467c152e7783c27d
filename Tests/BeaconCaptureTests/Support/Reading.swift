import BeaconCapture
import BeaconModel
import BeaconRadio
import Testing

/// The result of reading a capture to its end.
struct Reading {
    /// A copied advert.
    struct Heard: Hashable {
        /// The nanoseconds since 1970.
        var time: Int64?
        var receiver: String
        var kind: AdvertisingReport.Kind
        var address: DeviceAddress
        var rssi: Int8?
        var advert: [UInt8]
        var isDamaged = false

        var frame: IBeaconFrame? { IBeaconFrame(advert: advert.span.bytes) }
    }

    var format: CaptureFormat?
    var heard: [Heard] = []
    /// The times of the records.
    var records: [Int64?] = []
    var counts = SourceCounts()
    var error: CaptureError?

    init(_ bytes: [UInt8]) throws { try self.init { () throws(CaptureError) in try CaptureReader(bytes: bytes) } }

    init(path: String) throws { try self.init { () throws(CaptureError) in try CaptureReader(path: path) } }

    private init(_ open: () throws(CaptureError) -> CaptureReader) throws {
        do {
            var reader = try open()
            format = reader.format
            defer { counts = reader.counts }
            var heard: [(Reception, [UInt8])] = []
            var batch = AdvertBatch(keepsAdverts: true)
            do {
                while let record = try reader.next(into: &batch) {
                    records.append(record.time?.nanoseconds)
                    batch.forEachAdvert { heard.append(($0, $1.withUnsafeBytes { Array($0) })) }
                    batch.begin()
                }
            } catch let failure as CaptureError {
                batch.forEachAdvert { heard.append(($0, $1.withUnsafeBytes { Array($0) })) }
                error = failure
            }
            batch.begin()
            let isOver = try reader.next(into: &batch) == nil
            #expect(isOver)
            batch.forEachAdvert { _, _ in Issue.record("an advert behind the end") }
            let names = reader.receiverNames
            self.heard = heard.map { reception, advert in
                Heard(
                    time: reception.time?.nanoseconds, receiver: names[Int(reception.receiver.index)],
                    kind: reception.report.kind, address: reception.report.address,
                    rssi: reception.report.rssi.dBm, advert: advert, isDamaged: reception.isDamaged)
            }
        } catch let failure as CaptureError {
            error = failure
        }
    }
}
