import BeaconModel
import Foundation

// Decodes the adverts of a file, one per line in hexadecimal digits, in a given number of passes, and prints a line of
// JSON: the number of iBeacons, a sum over their fields, and the nanoseconds per advert of each pass.

guard CommandLine.arguments.count == 3, let passes = Int(CommandLine.arguments[2]),
    let text = try? String(contentsOfFile: CommandLine.arguments[1], encoding: .utf8)
else {
    print("usage: PeerDecoder FILE PASSES")
    exit(2)
}

let adverts = text.split(separator: "\n").map { line in
    var digits = line.utf8.makeIterator()
    var bytes: [UInt8] = []
    while let high = digits.next(), let low = digits.next() {
        let pair = String(decoding: [high, low], as: UTF8.self)
        bytes.append(UInt8(pair, radix: 16) ?? 0)
    }
    return bytes
}

func now() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}

struct Tally {
    var count = 0
    var sum = 0
}

// Like the peers' adverts, each advert is a separate object and not a range of one long buffer.
func decode(_ adverts: [[UInt8]]) -> Tally {
    var tally = Tally()
    for advert in adverts {
        guard let frame = IBeaconFrame(advert: advert.span.bytes) else { continue }
        tally.count += 1
        tally.sum += Int(frame.identity.major) + Int(frame.identity.minor)
        tally.sum += Int(truncatingIfNeeded: frame.identity.uuid.high >> 56)
    }
    return tally
}

var tally = decode(adverts)
var times: [Double] = []
for _ in 0..<passes {
    let start = now()
    tally = decode(adverts)
    times.append(Double(now() - start) / Double(adverts.count))
}
print(#"{"count": \#(tally.count), "sum": \#(tally.sum), "nanoseconds": \#(times)}"#)
