import AdvertCorpus
import BeaconCapture
import BeaconModel
import BeaconRadio
import Foundation

// Writes adverts to files: a btsnoop capture for `beacon scan`, or lines of hexadecimal digits for other decoders.

let usage = """
    usage: AdvertFiles btsnoop FILE [ADVERTS]   iBeacons only, of 10 000 beacons; 1 000 000 by default
           AdvertFiles hex FILE [ADVERTS]       half of them iBeacons, one per line; 400 000 by default
    """

let arguments = CommandLine.arguments
guard arguments.count >= 3 else {
    print(usage)
    exit(2)
}
let path = arguments[2]
let wanted = arguments.count > 3 ? Int(arguments[3]) : nil

func advert(_ record: Int, of corpus: borrowing Corpus) -> [UInt8] {
    let start = Int(corpus.adverts[record].offset)
    return Array(corpus.bytes[start..<start + Int(corpus.adverts[record].count)])
}

switch arguments[1] {
case "btsnoop":
    let corpus = Corpus(beacons: 10_000, foreignShare: 0, atLeast: wanted ?? 1_000_000)
    var output = try FileOutput(path: path)
    var writer = BtsnoopWriter()
    try output.append { writer.appendHeader(to: &$0) }
    for index in corpus.adverts.indices {
        let record = corpus.adverts[index]
        let reception = Reception(
            time: Timestamp(nanoseconds: 1_700_000_000_000_000_000 + Int64(index) * corpus.step),
            receiver: ReceiverID(record.receiver),
            report: AdvertisingReport(
                kind: .nonConnectable, address: DeviceAddress(bits: record.address, kind: .random),
                rssi: SignalStrength(rawValue: record.rssi)))
        let bytes = advert(index, of: corpus)
        try output.append { writer.append(reception, advert: bytes.span.bytes, receivers: ["hci0"], to: &$0) }
    }
    try output.finish()
case "hex":
    let corpus = Corpus(beacons: 1000, atLeast: wanted ?? 400_000)
    var output = try FileOutput(path: path)
    for index in corpus.adverts.indices {
        let line = advert(index, of: corpus).map { String(format: "%02x", $0) }.joined() + "\n"
        try output.append { $0.append(contentsOf: line.utf8) }
    }
    try output.finish()
default:
    print(usage)
    exit(2)
}
