import BeaconModel
import BeaconReceivers
import Foundation

// Reads a file with the output of an ESPHome proxy on a plain connection, in a given number of passes, and prints a
// line of JSON: the number of adverts, a sum over their fields, and the nanoseconds of processor time per advert in
// each pass.

guard CommandLine.arguments.count == 3, let passes = Int(CommandLine.arguments[2]),
    let file = FileManager.default.contents(atPath: CommandLine.arguments[1])
else {
    print("usage: ProxyThroughput FILE PASSES")
    exit(2)
}

func now() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}

/// Reads all pieces, as they arrive from a socket.
func read(_ pieces: [[UInt8]]) -> (count: Int, sum: Int) {
    var (count, sum) = (0, 0)
    var reader = ESPHomeProbe.Reader()
    for piece in pieces {
        let isWhole = reader.read(piece.span.bytes) { address, rssi, advert in
            count += 1
            sum += Int(address.bits & 0xFFFF) - rssi + advert.byteCount
        }
        guard isWhole else { break }
    }
    return (count, sum)
}

let bytes = [UInt8](file)
let pieces = stride(from: 0, to: bytes.count, by: 16_384).map { Array(bytes[$0..<min($0 + 16_384, bytes.count)]) }
var tally = read(pieces)
var times: [Double] = []
for _ in 0..<passes {
    let start = now()
    tally = read(pieces)
    times.append(Double(now() - start) / Double(max(tally.count, 1)))
}
print(#"{"count": \#(tally.count), "sum": \#(tally.sum), "nanoseconds": \#(times)}"#)
