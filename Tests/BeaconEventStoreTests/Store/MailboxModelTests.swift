import BeaconEventStore
import BeaconModel
import BeaconSupport
import Foundation
import GRDB
import TestSupport
import Testing

/// A model of mailboxes that was written from notifications.md and backend.md, not from the store.
private struct MailboxModel {
    enum State: Int { case redelivered, pending, dead }

    struct Mail: Equatable {
        var state: State
        var event: Stored
        var priority: Event.Priority
        var bytes: Int
        /// The time of the refusal, the addressing or the request for a retry; nil for the arrival.
        var since: Int64?
        var isNamed: Bool
    }

    struct Stored: Equatable {
        var number: Int64
        var event: Event
        var arrival: Int64
        var bytes: Int { event.body.count + 100 }
    }

    struct Mailbox {
        var filter: EventFilter
        var isActive = true
        var mail: [Int64: Mail] = [:]
        /// What has happened to its events. Its other members are not used.
        var counts = ConsumerStatus(name: "")

        func waits(_ number: Int64) -> Bool { mail[number].map { $0.state != .dead } ?? false }
        var waiting: [Mail] { mail.values.filter { $0.state != .dead } }
        var dead: [Mail] { mail.values.filter { $0.state == .dead } }

        /// The events that the consumer receives next: addressed and retried ones first.
        func next(_ limit: Int) -> [Mail] {
            let first = waiting.contains { $0.state == .redelivered } ? State.redelivered : .pending
            let ready = mail.values.filter { $0.state == first }.sorted { $0.event.number < $1.event.number }
            return Array(ready.prefix(limit))
        }

        /// Keeps only the mail that satisfies a condition, and counts the rest.
        mutating func keep(
            _ count: WritableKeyPath<ConsumerStatus, Int>, where isKept: (Int64, Mail) -> Bool
        ) {
            let before = mail.count
            mail = mail.filter { isKept($0.key, $0.value) }
            counts[keyPath: count] += before - mail.count
        }

        /// Of the lowest priority, only the newest waits.
        mutating func supersede(before number: Int64) {
            keep(\.superseded) { $1.state == .dead || $1.priority != .latest || $0 >= number }
        }

        mutating func post(_ stored: Stored, _ state: State, isNamed: Bool, _ event: Event) {
            if event.priority == .latest { supersede(before: .max) }
            counts.appended += 1
            mail[stored.number] = Mail(
                state: state, event: stored, priority: event.priority, bytes: event.body.count + 100,
                since: state == .pending ? nil : stored.arrival, isNamed: isNamed)
        }

        /// Drops the least important, and of these the oldest.
        mutating func enforce(_ limits: ConsumerLimits, _ isCounted: (Mail) -> Bool, count: Int) {
            while true {
                let all = mail.values.filter(isCounted)
                guard all.count > count || all.reduce(0, { $0 + $1.bytes }) > limits.bytes else { return }
                let first = all.min { ($0.priority, $0.event.number) < ($1.priority, $1.event.number) }
                if let first { keep(\.droppedBySize) { number, _ in number != first.event.number } }
            }
        }
    }

    var retention: EventStoreSettings.Retention
    var limits: ConsumerLimits
    var mailboxes: [String: Mailbox] = [:]
    /// The events in the file, by number.
    var events: [Int64: Stored] = [:]
    var numbers: [EventID: Int64] = [:]
    var sequence: Int64 = 0
    var state: [String: (value: Data, modified: Int64)] = [:]
    static let stateRows = 8
    /// The number up to which the history's bounds have been exceeded since the store was opened.
    var swept: Int64 = 0
    /// The boot's name, the difference of the clocks in milliseconds, the first event, and when the date is trusted.
    var boot: (name: String, lead: Int64, first: Int64, trusted: Int64) = ("", 0, 1, 0)

    /// The difference of the clocks at the last correction since the store was opened.
    var storedLead: Int64?

    // MARK: - Steps

    /// Stores a step, and returns whether it was new.
    mutating func store(_ step: Step, addressed: [(Event, [String])] = [], at now: Int64) -> Bool {
        if addressed.isEmpty, !step.events.isEmpty, step.events.allSatisfy({ numbers[$0.id] != nil }) { return false }
        for event in step.events { _ = insert(event, at: now) }
        for (event, names) in addressed { address(event, names, at: now) }
        for change in step.changes {
            state[change.key] = change.value.map { ($0, now) }
            while state.count > Self.stateRows,
                let oldest = state.min(by: { ($0.value.modified, $0.key) < ($1.value.modified, $1.key) })
            {
                state[oldest.key] = nil
            }
        }
        return true
    }

    private mutating func insert(_ event: Event, at now: Int64) -> Int64 {
        if let number = numbers[event.id] { return number }
        sequence += 1
        numbers[event.id] = sequence
        let stored = Stored(number: sequence, event: event, arrival: now)
        events[sequence] = stored
        for (name, mailbox) in mailboxes where mailbox.isActive {
            let isNamed = event.audience.map { $0.contains(name) }
            if isNamed ?? mailbox.filter.selects(kind: event.kind, region: event.region) {
                mailboxes[name]?.post(stored, .pending, isNamed: isNamed != nil, event)
            }
        }
        return sequence
    }

    private mutating func address(_ event: Event, _ names: [String], at now: Int64) {
        var silent = event
        silent.audience = []
        let number = insert(silent, at: now)
        if events[number] == nil { events[number] = Stored(number: number, event: silent, arrival: now) }
        var stored = Stored(number: number, event: silent, arrival: now)
        stored.event.kind = events[number]?.event.kind ?? event.kind
        for name in names where mailboxes[name]?.isActive == true && mailboxes[name]?.mail[number] == nil {
            mailboxes[name]?.post(stored, .redelivered, isNamed: true, event)
            mailboxes[name]?.enforce(limits, { $0.state != .dead }, count: limits.events)
        }
    }

    mutating func configure(_ name: String, _ filter: EventFilter, after number: Int64?) {
        guard var mailbox = mailboxes[name] else {
            var mailbox = Mailbox(filter: filter)
            for (key, stored) in events.sorted(by: { $0.key < $1.key }) where key > number ?? sequence {
                let isNamed = stored.event.audience.map { $0.contains(name) }
                if isNamed ?? filter.selects(kind: stored.event.kind, region: stored.event.region) {
                    mailbox.post(stored, .pending, isNamed: isNamed != nil, stored.event)
                }
            }
            return mailboxes[name] = mailbox
        }
        if mailbox.filter != filter {
            mailbox.keep(\.droppedByFilter) { _, mail in
                let event = mail.event.event
                return mail.state == .dead || mail.isNamed || filter.selects(kind: event.kind, region: event.region)
            }
        }
        (mailbox.filter, mailbox.isActive) = (filter, true)
        mailboxes[name] = mailbox
    }

    mutating func finish(_ name: String, _ numbers: [Int64], refused: Set<Int64>, at now: Int64) {
        for number in numbers where mailboxes[name]?.waits(number) == true {
            if refused.contains(number) {
                mailboxes[name]?.mail[number]?.state = .dead
                mailboxes[name]?.mail[number]?.since = now
                mailboxes[name]?.counts.refused += 1
            } else {
                mailboxes[name]?.keep(\.handled) { other, _ in other != number }
            }
        }
        if !refused.isEmpty { mailboxes[name]?.enforce(limits, { $0.state == .dead }, count: limits.refused) }
    }

    mutating func retry(_ name: String, _ number: Int64?, at now: Int64) -> Int {
        let chosen = mailboxes[name]?.dead.filter { number == nil || $0.event.number == number } ?? []
        for var mail in chosen {
            (mail.state, mail.since, mail.isNamed) = (.redelivered, now, true)
            mailboxes[name]?.mail[mail.event.number] = mail
        }
        let newest = mailboxes[name]?.waiting.filter { $0.priority == .latest }.map(\.event.number).max()
        if !chosen.isEmpty, let newest { mailboxes[name]?.supersede(before: newest) }
        return chosen.count
    }

    mutating func drop(_ name: String, _ number: Int64?, deadLettersOnly: Bool) -> Int {
        let before = mailboxes[name]?.mail.count ?? 0
        mailboxes[name]?.keep(\.droppedOnRequest) { key, mail in
            number != nil && key != number || deadLettersOnly && mail.state != .dead
        }
        return before - (mailboxes[name]?.mail.count ?? 0)
    }

    // MARK: - Bounds and clocks

    /// Drops what is too old, or else what is too much, from the first mailbox that has any.
    ///
    /// - Returns: Whether there was any.
    mutating func drop(at now: Int64, sinceBoot: Int64) -> Bool {
        let (events, oldest) = (events, now - Int64(limits.age / .milliseconds(1)))
        func since(_ mail: Mail) -> Int64 { mail.since ?? events[mail.event.number]?.arrival ?? .min }
        for (name, var mailbox) in mailboxes.sorted(by: { $0.key < $1.key }) {
            let count = mailbox.mail.count
            if sinceBoot >= boot.trusted {
                // Events in order leave in order, also if the clock was set back by a few seconds in between.
                let pending = mailbox.mail.values.filter { $0.state == .pending && since($0) >= oldest }
                let first = pending.map(\.event.number).min() ?? .max
                mailbox.keep(\.droppedByAge) { number, mail in
                    since(mail) >= oldest || mail.state == .pending && number > first
                }
            }
            if mailbox.mail.count == count { mailbox.enforce(limits, { $0.state != .dead }, count: limits.events) }
            mailboxes[name] = mailbox
            if mailbox.mail.count < count { return true }
        }
        return false
    }

    mutating func maintain(at now: Int64, sinceBoot: Int64) {
        let canBeOld = sinceBoot >= boot.trusted
        // A young event keeps the old ones behind it. If it is dropped for want of room, they end, too.
        while drop(at: now, sinceBoot: sinceBoot) {}
        let oldest = canBeOld ? now - Int64(retention.age / .milliseconds(1)) : .min
        var left = events.values.filter { $0.number > swept }.sorted { $0.number < $1.number }
        var bytes = left.reduce(0) { $0 + $1.bytes }
        while let first = left.first,
            left.count > retention.events || bytes > retention.bytes || first.arrival < oldest
        {
            swept = first.number
            bytes -= first.bytes
            left.removeFirst()
        }
        let needed = Set(mailboxes.values.flatMap(\.mail.keys))
        events = events.filter { $0.key > swept || needed.contains($0.key) }
    }

    /// Moves the times of this boot if the clock was set, and repairs those of a wrong boot.
    mutating func correct(now: Int64, sinceBoot: Int64, boot name: String) {
        let lead = now - sinceBoot
        // Small steps do not matter.
        if let storedLead, abs(lead - storedLead) < 60_000 { return }
        storedLead = lead
        if boot.name != name {
            boot = (name, lead, sequence + 1, sequence == 0 && state.isEmpty ? 0 : sinceBoot + 300_000)
        } else {
            let step = lead - boot.lead
            guard abs(step) >= 60_000 else { return }
            let (first, before) = (boot.first, boot.lead)
            change {
                $0 >= first ? step : 0
            } times: {
                $0 >= before ? $0 + step : $0
            }
            (boot.lead, boot.trusted) = (lead, sinceBoot + 300_000)
        }
        let (first, earliest) = (boot.first, Int64(1_767_225_600_000))
        // A clock from before 2026 repairs nothing.
        guard now >= earliest else { return }
        func repaired(_ time: Int64) -> Int64 { time < earliest || time > now ? now : time }
        for (number, stored) in events where number < first { events[number]?.arrival = repaired(stored.arrival) }
        change { _ in
            0
        } times: {
            repaired($0)
        }
    }

    private mutating func change(_ step: (Int64) -> Int64, times: (Int64) -> Int64) {
        for (number, stored) in events { events[number]?.arrival = stored.arrival + step(number) }
        state = state.mapValues { ($0.value, times($0.modified)) }
        for name in mailboxes.keys {
            for (number, mail) in mailboxes[name]?.mail ?? [:] {
                mailboxes[name]?.mail[number]?.since = mail.since.map(times)
            }
        }
    }
}

/// A store with its model. Each action is done by both, and then they are compared.
private final class MailboxHistory {
    private let bench: StoreBench
    private var model: MailboxModel
    private var random: SplitMix64
    private let seed: UInt64
    private var consumers: [String: EventConsumer] = [:]
    private var copies = 0
    private static let names = ["a", "b", "c"]
    private static let filters: [String: EventFilter] = [
        "a": EventFilter(), "b": EventFilter(kinds: ["enter", "exit", "heartbeat"]),
        "c": EventFilter(regions: ["r1"], kindsOfAnyRegion: ["heartbeat"]),
    ]
    private static let kinds: [(kind: String, priority: Event.Priority)] = [
        ("enter", .essential), ("exit", .essential), ("proximity", .repeated), ("place", .normal),
        ("heartbeat", .latest),
    ]
    private static let limits = ConsumerLimits(age: .seconds(200), events: 25, bytes: 2_200, refused: 5)
    private static let memory = 20

    /// The store enforces the bounds between two steps or later, so that a report is dropped or replaced.
    private static func counts(of status: ConsumerStatus) -> [Int] {
        [
            status.appended, status.handled, status.refused, status.droppedByAge, status.droppedByFilter,
            status.droppedOnRequest, status.droppedBySize + status.superseded,
        ]
    }

    init(seed: UInt64) throws {
        self.seed = seed
        random = SplitMix64(seed: seed)
        bench = try StoreBench(seed: seed) {
            $0.retention = .init(age: .seconds(400), events: 30, bytes: 3_000)
            $0.state["s"] = StateLimits(rows: MailboxModel.stateRows, bytes: 1 << 20)
            $0.waitingEvents = Self.memory
        }
        model = MailboxModel(retention: bench.settings.retention, limits: Self.limits)
        for name in Self.names { try configure(name, Self.filters[name] ?? EventFilter(), after: 0) }
    }

    private var now: Int64 { bench.clock.wall.nanoseconds / 1_000_000 }
    private var sinceBoot: Int64 { bench.clock.clock.sinceBoot() / 1_000_000 }
    private func chance(_ part: Int, in whole: Int) -> Bool { Int.random(in: 0..<whole, using: &random) < part }
    private func any<Value>(_ values: [Value]) -> Value { values[Int.random(in: values.indices, using: &random)] }

    /// Corrects the times, as the first transaction after the clock was set does.
    private func correct() { model.correct(now: now, sinceBoot: sinceBoot, boot: bench.clock.clock.boot) }

    private func configure(_ name: String, _ filter: EventFilter, after number: Int64? = nil) throws {
        consumers[name] = try bench.store.addConsumer(name, filter: filter, limits: Self.limits, after: number)
        correct()
        model.configure(name, filter, after: number)
    }

    private func event() -> Event {
        let (kind, priority) = any(Self.kinds)
        var event = bench.event(
            kind, priority: priority, region: kind == "heartbeat" ? nil : any(["r1", "r2", nil]),
            body: String(repeating: "x", count: Int.random(in: 1...20, using: &random)))
        if chance(1, in: 5) { event.audience = Self.names.filter { _ in chance(1, in: 3) } }
        return event
    }

    /// Returns a step, of which some events may be known.
    private func step() -> Step {
        var step = Step((0..<Int.random(in: 1...3, using: &random)).map { _ in event() })
        if chance(1, in: 8), let known = model.numbers.keys.min(by: { "\($0)" < "\($1)" }) { step.events[0].id = known }
        if chance(1, in: 12), let known = model.events.values.min(by: { $0.number < $1.number }) {
            step.events = [known.event]
        }
        step.set("s", "\(Int.random(in: 0..<12, using: &random))", to: Data("\(random.next())".utf8))
        return step
    }

    func act() async throws {
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<34:
            let step = step()
            let receipt = try await bench.store.append(step)
            correct()
            #expect(receipt.isRepeated == !model.store(step, at: now))
        case 34..<40:
            var step = Step()
            let known = model.events.values.sorted { $0.number < $1.number }.map(\.event)
            var event = known.isEmpty || chance(1, in: 4) ? event() : any(known)
            if chance(1, in: 3) { event.body = Data("another".utf8) }
            let names = (Self.names + ["nobody"]).filter { _ in chance(1, in: 2) }
            step.address(event, to: names)
            try await bench.store.append(step)
            correct()
            _ = model.store(Step(), addressed: [(event, names)], at: now)
        case 40..<60: try await deliver()
        case 60..<64:
            let (name, own) = (any(Self.names), chance(1, in: 2))
            let number = own ? model.mailboxes[name]?.dead.map(\.event.number).min() : nil
            let id = number.flatMap { number in model.numbers.first { $0.value == number }?.key }
            guard model.mailboxes[name] != nil, !own || id != nil else { return }
            let count = try bench.inspector.retry(id, for: name)
            #expect(count == model.retry(name, number, at: now))
        case 64..<68:
            let (name, own, deadLettersOnly) = (any(Self.names), chance(1, in: 2), chance(1, in: 2))
            let number = own ? model.mailboxes[name]?.mail.keys.min() : nil
            let id = number.flatMap { number in model.numbers.first { $0.value == number }?.key }
            guard model.mailboxes[name] != nil, !own || id != nil else { return }
            let count = try bench.inspector.drop(id, for: name, deadLettersOnly: deadLettersOnly)
            #expect(count == model.drop(name, number, deadLettersOnly: deadLettersOnly))
            let status = try await bench.store.consumers().first { $0.name == name }
            #expect(status?.waiting == model.mailboxes[name]?.waiting.count)
        case 68..<74:
            let name = any(Self.names)
            if chance(1, in: 3) {
                try bench.store.addConsumers([], pausing: [name], limits: Self.limits)
                correct()
                model.mailboxes[name]?.isActive = false
            } else if chance(1, in: 4), model.mailboxes[name] != nil {
                try await bench.store.removeConsumer(name)
                correct()
                model.mailboxes[name] = nil
            } else {
                let others = [EventFilter(kinds: ["enter"]), EventFilter(regions: ["r2"]), EventFilter()]
                let filter = chance(1, in: 2) ? Self.filters[name] ?? EventFilter() : any(others)
                try configure(name, filter, after: any([nil, 0, model.sequence - 5]))
            }
        case 74..<79: try await failAndRecover()
        case 79..<83: try await reopen()
        case 83..<87:
            bench.clock.setWallClock(by: .seconds(any([30, -30, 90, -90, 7_200, -7_200, 40_000_000, -40_000_000])))
        default: bench.clock.advance(by: .milliseconds(Int64.random(in: 0...60_000, using: &random)))
        }
    }

    private func deliver() async throws {
        let name = any(Self.names)
        guard let consumer = consumers[name], let mailbox = model.mailboxes[name] else { return }
        if let batch = try await consumer.available(limit: 4) {
            correct()
            let expected = (model.mailboxes[name] ?? mailbox).next(4)
            #expect(batch.events.map(\.number) == expected.map(\.event.number))
            #expect(batch.events.map { $0.event.body.count + 100 } == expected.map(\.bytes))
            let part = batch.prefix(Int.random(in: 0...batch.events.count, using: &random))
            if part.events.isEmpty {
                var step = Step()
                step.fail(name, "no")
                try await bench.store.append(step)
                return
            }
            let refused = Set(part.events.map(\.number).filter { _ in chance(1, in: 3) })
            let reasons = Dictionary(uniqueKeysWithValues: refused.map { ($0, "no") })
            if chance(1, in: 6) {
                // An operator drops one during the delivery.
                let first = part.events[0]
                try bench.inspector.drop(first.event.id, for: name, deadLettersOnly: false)
                _ = model.drop(name, first.number, deadLettersOnly: false)
            }
            try await consumer.commit(part, refused: reasons)
            if chance(1, in: 4) { try await consumer.commit(part, refused: reasons) }
            model.finish(name, part.events.map(\.number), refused: refused, at: now)
        } else {
            #expect(model.mailboxes[name]?.waiting.isEmpty == true)
        }
    }

    /// The disk fails for a time. Steps wait in memory, and the least important are dropped.
    private func failAndRecover() async throws {
        bench.fault.set(any(FaultTests.errors))
        var waiting: [Step] = []
        for _ in 0..<Int.random(in: 1...15, using: &random) {
            let step = step()
            bench.store.enqueue(step)
            waiting.append(step)
            // The attempt to write it ends before the next one begins.
            await #expect(throws: EventStoreError.self) { try await bench.store.maintain() }
            func priority(_ step: Step) -> Event.Priority { step.events.map(\.priority).max() ?? .normal }
            while waiting.reduce(0, { $0 + $1.events.count }) > Self.memory,
                let index = waiting.indices.min(by: { (priority(waiting[$0]), $0) < (priority(waiting[$1]), $1) })
            {
                waiting.remove(at: index)
            }
            #expect(bench.store.health.waitingEvents == waiting.reduce(0) { $0 + $1.events.count })
        }
        await #expect(throws: EventStoreError.self) { try await bench.store.append(Step([event()])) }
        bench.fault.set(nil)
        try await bench.store.append(Step())
        correct()
        for (index, step) in waiting.enumerated() {
            _ = model.store(step, at: now)
            // The first one is written alone, and some of the bounds are enforced before the others.
            if index == 0 { _ = model.drop(at: now, sinceBoot: sinceBoot) }
        }
    }

    private func reopen() async throws {
        copies += 1
        if chance(1, in: 2) {
            try await bench.crash(into: "\(copies).sqlite")
        } else {
            let file = bench.store.file
            await bench.store.close()
            correct()
            if chance(1, in: 2) { bench.clock.reboot("\(copies)") }
            try bench.open(file)
        }
        (model.swept, model.storedLead, consumers) = (0, nil, [:])
        for (name, mailbox) in model.mailboxes {
            if mailbox.isActive {
                try configure(name, mailbox.filter)
            } else {
                try bench.store.addConsumers([], pausing: [name], limits: Self.limits)
                correct()
            }
        }
    }

    /// Enforces the bounds, and compares.
    func check(_ step: Int) async throws {
        try await bench.store.maintain()
        correct()
        model.maintain(at: now, sinceBoot: sinceBoot)
        let place: Comment = "seed \(seed), step \(step)"
        struct Row: Hashable { var name: String, state: Int, number: Int64 }
        let database = try DatabaseQueue(path: bench.store.file.path)
        let (rows, numbers, strays): ([Row], [Int64], Int?) = try await database.read { database in
            let mail = """
                SELECT name, state, number FROM destination
                JOIN delivery ON bank = slot / 62 AND destinations >> slot % 62 & 1
                """
            let strays = """
                SELECT count(*) FROM delivery
                WHERE destinations <= 0 OR destinations & ~(SELECT coalesce(sum(1 << slot), 0) FROM destination)
                """
            return (
                try GRDB.Row.fetchAll(database, sql: mail).map { Row(name: $0[0], state: $0[1], number: $0[2]) },
                try Int64.fetchAll(database, sql: "SELECT number FROM event ORDER BY number"),
                try Int.fetchOne(database, sql: strays)
            )
        }
        #expect(strays == 0, place)
        let expected = model.mailboxes.flatMap { name, mailbox in
            mailbox.mail.values.map { Row(name: name, state: $0.state.rawValue, number: $0.event.number) }
        }
        #expect(Set(rows) == Set(expected) && rows.count == expected.count, place)
        #expect(numbers == model.events.keys.sorted(), place)
        let statuses = try await bench.store.consumers()
        #expect(statuses.map(\.name) == model.mailboxes.keys.sorted(), place)
        for status in statuses {
            let mailbox = model.mailboxes[status.name]
            #expect(status.waiting == mailbox?.waiting.count, place)
            #expect(status.waitingBytes == mailbox?.waiting.reduce(0) { $0 + $1.bytes }, place)
            #expect(status.deadLetters == mailbox?.dead.count, place)
            #expect(Self.counts(of: status) == mailbox.map { Self.counts(of: $0.counts) }, place)
        }
        let state = try await bench.store.state("s")
        #expect(
            Dictionary(uniqueKeysWithValues: state.map { ($0.key, $0.value) }) == model.state.mapValues(\.value), place)
        #expect(bench.store.usage.events.rows == numbers.count, place)
        // The rows of the file are bounded, whatever waits (S3).
        #expect(numbers.count <= model.retention.events + Set(expected.map(\.number)).count, place)
        if chance(1, in: 20), let some = model.numbers.randomElement() {
            // An id lives longer than its event.
            var again = event()
            again.id = some.key
            #expect(try await bench.store.append(Step([again])).new == 0, place)
        }
    }
}

@Suite("Mailboxes and their model")
struct MailboxModelTests {
    /// BEACON_HISTORIES=200 BEACON_STEPS=1000 is the long form.
    private static func setting(_ name: String, _ normal: UInt64) -> UInt64 {
        ProcessInfo.processInfo.environment[name].flatMap { UInt64($0) } ?? normal
    }

    @Test(
        "After any steps, refusals, requests, pauses, filters, kills, faults and clocks the mailboxes are the model's",
        arguments: 1...setting("BEACON_HISTORIES", 10) as ClosedRange<UInt64>)
    func random(seed: UInt64) async throws {
        let history = try MailboxHistory(seed: seed)
        for step in 0..<Int(Self.setting("BEACON_STEPS", 300)) {
            try await history.act()
            try await history.check(step)
        }
    }
}
