import BeaconEventStore
import BeaconModel
import Foundation

// usage: EventStoreThroughput [FOLDER [HISTORY]]
//
// FOLDER is on the disk to measure, by default /var/tmp. HISTORY is the number of events in the store before, by
// default 0. Each line is a measurement: events per second on the disk, and the bytes that the kernel wrote for each
// (proc(5), write_bytes).

let arguments = CommandLine.arguments
let folder = URL(fileURLWithPath: arguments.count > 1 ? arguments[1] : "/var/tmp")
    .appendingPathComponent("event-store-\(getpid())")
let history = arguments.count > 2 ? Int(arguments[2]) ?? 0 : 0
try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
defer { try? FileManager.default.removeItem(at: folder) }

/// Creates events like a gateway: 50 regions, a beacon in each, some 300 bytes of JSON.
struct EventMaker {
    private var ids = EventIDs()
    private var count = 0
    private let body = Data(String(repeating: "x", count: 300).utf8)

    mutating func next() -> Event {
        count += 1
        let now = Timestamp(seconds: Date().timeIntervalSince1970) ?? .zero
        var event = Event(
            id: ids.next(at: now), time: now, kind: count / 50 % 2 == 0 ? "enter" : "exit", priority: .essential,
            body: body)
        event.region = "room \(count % 50)"
        event.receiver = "hall"
        event.beacon = BeaconIdentity(
            uuid: ProximityUUID(high: 0xE2C5_6DB5_DFFB_48D2, low: 0xB060_D0F5_A710_96E0), major: UInt16(count % 50),
            minor: 1)
        return event
    }
}

/// Returns a step of events, each with the state of its region.
func step(_ events: [Event]) -> Step {
    var step = Step(events)
    for event in events { step.set("region", event.region ?? "", to: Data("{\"state\":\"\(event.kind)\"}".utf8)) }
    return step
}

func writtenBytes() -> Int {
    let text = (try? String(contentsOfFile: "/proc/self/io", encoding: .utf8)) ?? ""
    let line = text.split(separator: "\n").first { $0.hasPrefix("write_bytes:") }
    return line.flatMap { Int($0.dropFirst(12).trimmingCharacters(in: .whitespaces)) } ?? 0
}

/// Returns the processor time of this process in seconds.
func processorTime() -> Double { Double(clock()) / Double(CLOCKS_PER_SEC) }

func measure(_ name: String, _ count: Int, _ work: () async throws -> Void) async rethrows {
    let (began, before, processor) = (ContinuousClock.now, writtenBytes(), processorTime())
    try await work()
    let seconds = (ContinuousClock.now - began) / .seconds(1)
    let bytes = Double(writtenBytes() - before) / Double(count)
    let microseconds = (processorTime() - processor) * 1_000_000 / Double(count)
    print(
        """
        \(name): \(Int(Double(count) / seconds)) events/s, \(Int(bytes)) bytes and \(Int(microseconds)) µs of processor time \
        per event
        """)
}

var settings = EventStoreSettings()
settings.retention.events = max(100_000, history)
let store = try EventStore(file: folder.appendingPathComponent("events.sqlite"), settings: settings)
let hook = try store.addConsumer("hook", after: 0)
var maker = EventMaker()
for _ in 0..<history / 1_000 { try await store.append(step((0..<1_000).map { _ in maker.next() })) }
func drain() async throws {
    while let batch = try await hook.available(limit: 100) { try await hook.commit(batch) }
}
try await drain()
try await store.maintain()

let batches = (0..<200).map { _ in (0..<100).map { _ in maker.next() } }
try await measure("appended, 100 per step", 20_000) {
    for batch in batches { try await store.append(Step(batch)) }
}
try await measure("handled by a consumer, 100 per batch", 20_000) { try await drain() }
let single = (0..<32).map { _ in (0..<1_000).map { _ in maker.next() } }
try await measure("appended by 32 callers, one each", 32_000) {
    try await withThrowingTaskGroup(of: Void.self) { group in
        for events in single {
            group.addTask { for event in events { try await store.append(Step([event])) } }
        }
        try await group.waitForAll()
    }
}
try await drain()
let fifties = (0..<200).map { _ in step((0..<50).map { _ in maker.next() }) }
try await measure("50 regions at once with their states, and handled", 10_000) {
    for fifty in fifties {
        try await store.append(fifty)
        try await drain()
    }
}
let ones = (0..<200).map { _ in step([maker.next()]) }
try await measure("one region at a time with its state, and handled", 200) {
    for one in ones {
        try await store.append(one)
        try await drain()
    }
}
let began = ContinuousClock.now
var query = EventQuery()
(query.region, query.kinds) = ("room 7", ["exit"])
let page = try await store.events(query)
print("page of \(page.events.count) by region and kind: \((ContinuousClock.now - began) / .milliseconds(1)) ms")
await store.close()
