import BeaconModel
import BeaconRadio
import BeaconReceivers
import Foundation

// Reads the messages of a file, one per line as TOPIC, a tabulator and PAYLOAD, in a given number of passes, and prints
// a line of JSON: the number of iBeacons, a sum over their fields, and the nanoseconds of processor time per message in
// each pass.

guard CommandLine.arguments.count == 3, let passes = Int(CommandLine.arguments[2]),
    let text = try? String(contentsOfFile: CommandLine.arguments[1], encoding: .utf8)
else {
    print("usage: ReceiverThroughput FILE PASSES")
    exit(2)
}

// In the form of a broker's client: a text, and separate bytes.
let messages: [(topic: String, payload: [UInt8])] = text.split(separator: "\n").map { line in
    let parts = line.split(separator: "\t", maxSplits: 1)
    return (String(parts[0]), Array(parts[1].utf8))
}

func now() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}

struct Reader {
    private var time = Timestamp(nanoseconds: 1_700_000_000 * Timestamp.nanosecondsPerSecond)
    private var network = ReceiverNetwork()
    private var batch = AdvertBatch()

    init() { network.connect(at: time) }

    mutating func read(_ messages: [(topic: String, payload: [UInt8])]) -> (count: Int, sum: Int) {
        var (count, sum) = (0, 0)
        for (topic, payload) in messages {
            // One message each microsecond.
            time = time.advanced(by: 1000)
            batch.begin()
            network.receive(topic: topic.utf8.span.bytes, payload: payload.span.bytes, at: time, into: &batch)
            for sighting in batch.sightings {
                count += 1
                sum += Int(sighting.identity.major) + Int(sighting.identity.minor) - Int(sighting.rssi.rawValue)
            }
        }
        _ = batch.drainEvents()
        // Another second, so that no message is a duplicate.
        time = time.advanced(by: Timestamp.nanosecondsPerSecond)
        return (count, sum)
    }
}

var reader = Reader()
var tally = reader.read(messages)
var times: [Double] = []
for _ in 0..<passes {
    let start = now()
    tally = reader.read(messages)
    times.append(Double(now() - start) / Double(messages.count))
}
print(#"{"count": \#(tally.count), "sum": \#(tally.sum), "nanoseconds": \#(times)}"#)
