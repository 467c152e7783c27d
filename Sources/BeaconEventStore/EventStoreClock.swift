public import BeaconModel
import CLibrary
import Foundation
import GRDB

/// The clocks of an event store: the wall clock, which may be wrong and be set, and the clock since boot, which only
/// runs.
///
/// A small computer without a battery starts with a wrong date and learns the right one from the network. Events that
/// arrived before that would be years old at once, or never be old. So the store keeps the difference of the two
/// clocks, and where it changes, corrects the arrivals of this boot by as much.
public struct EventStoreClock: Sendable {
    /// Returns the time since 1970, by the wall clock.
    public var wall: @Sendable () -> Timestamp

    /// Returns the time since the machine was started, in nanoseconds, sleep included.
    public var sinceBoot: @Sendable () -> Int64

    /// The name of the boot, which no other boot has.
    public var boot: String

    /// Waits for a time, or throws where the task is cancelled.
    public var sleep: @Sendable (Duration) async throws -> Void

    /// Creates clocks; others than the system's are for tests.
    ///
    /// - Parameters:
    ///   - wall: returns the time since 1970.
    ///   - sinceBoot: returns the nanoseconds since the machine was started.
    ///   - boot: the name of the boot.
    ///   - sleep: waits for a time.
    public init(
        wall: @escaping @Sendable () -> Timestamp, sinceBoot: @escaping @Sendable () -> Int64, boot: String,
        sleep: @escaping @Sendable (Duration) async throws -> Void
    ) {
        self.wall = wall
        self.sinceBoot = sinceBoot
        self.boot = boot
        self.sleep = sleep
    }

    /// The system's clocks.
    public static var system: EventStoreClock {
        // random(4): the kernel draws it at each boot.
        let id = try? String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8)
        return EventStoreClock(
            wall: { Timestamp(nanoseconds: read(CLOCK_REALTIME)) }, sinceBoot: { read(CLOCK_BOOTTIME) },
            boot: id?.trimmingCharacters(in: .whitespacesAndNewlines) ?? "",
            sleep: { try await Task.sleep(for: $0) })
    }

    private static func read(_ clock: clockid_t) -> Int64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return Int64(time.tv_sec) &* Timestamp.nanosecondsPerSecond &+ Int64(time.tv_nsec)
    }

    /// The wall clock, in milliseconds since 1970.
    var now: Int64 { wall().milliseconds }

    /// The milliseconds by which the wall clock is ahead of that of the boot.
    var lead: Int64 { now - sinceBoot() / 1_000_000 }

    /// The least step of the wall clock, in milliseconds, that counts as set. Less does not matter to ages of days.
    static let smallestStep: Int64 = 60_000

    /// A wall clock before this is wrong, in milliseconds since 1970: 2026 began before this program was first
    /// released.
    static let earliest: Int64 = 1_767_225_600_000
}

extension Timestamp {
    /// The milliseconds since the origin.
    var milliseconds: Int64 { nanoseconds / 1_000_000 }

    /// The moment of so many milliseconds after the origin; it saturates.
    init(milliseconds: Int64) {
        let (product, overflow) = milliseconds.multipliedReportingOverflow(by: 1_000_000)
        self.init(nanoseconds: overflow ? (milliseconds < 0 ? 0 : .max) : product)
    }
}

extension Duration {
    /// The milliseconds; durations beyond 64 bits become the nearest that fits.
    var milliseconds: Int64 {
        let (seconds, attoseconds) = components
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1000)
        // Half of the range, so that sums with a moment cannot overflow.
        let bound = Int64.max / 4
        guard !overflow else { return seconds < 0 ? -bound : bound }
        return min(max(product &+ attoseconds / 1_000_000_000_000_000, -bound), bound)
    }
}

extension StepWriter {
    /// Corrects the arrivals of this boot where the wall clock was set since the last call. Those of an earlier boot
    /// whose clock was wrong to its end, or ran ahead, count as now: nothing tells their age.
    mutating func correctTimes(by clock: EventStoreClock) throws {
        let lead = clock.lead
        let known = try tables.first("SELECT id, lead, firstNumber FROM boot") { row in
            (id: try row.text(0), lead: try row.integer(1), first: try row.integer(2))
        }
        guard let known, known.id == clock.boot, !clock.boot.isEmpty else {
            try tables.run("DELETE FROM boot")
            let values: StatementArguments = [clock.boot, lead, ledger.sequence + 1]
            try tables.run("INSERT INTO boot (id, lead, firstNumber) VALUES (?, ?, ?)", values)
            try repairTimes(before: .max)
            return
        }
        let step = lead &- known.lead
        guard step.magnitude >= UInt64(EventStoreClock.smallestStep) else { return }
        try tables.run("UPDATE boot SET lead = ?", [lead])
        try tables.run("UPDATE event SET arrival = arrival + ? WHERE number >= ?", [step, known.first])
        // Times of an earlier boot stay.
        try tables.run("UPDATE state SET modified = modified + ?1 WHERE modified >= ?2", [step, known.lead])
        try tables.run("UPDATE refused SET refusedAt = refusedAt + ?1 WHERE refusedAt >= ?2", [step, known.lead])
        for index in ledger.consumers.indices {
            if let since = ledger.consumers[index].failingSince, since.milliseconds >= known.lead {
                ledger.consumers[index].failingSince = Timestamp(milliseconds: since.milliseconds &+ step)
            }
            if let next = ledger.consumers[index].nextAttempt {
                ledger.consumers[index].nextAttempt = Timestamp(milliseconds: next.milliseconds &+ step)
            }
        }
        try repairTimes(before: known.first)
    }

    private func repairTimes(before number: Int64) throws {
        // A wrong clock says nothing about earlier times.
        guard now >= EventStoreClock.earliest else { return }
        let bounds: StatementArguments = [now, EventStoreClock.earliest]
        // Only the first events can be of such a boot; an index by arrival would cost more than this scan.
        try tables.run(
            "UPDATE event SET arrival = ?1 WHERE (arrival < ?2 OR arrival > ?1) AND number < ?3", bounds + [number])
        try tables.run("UPDATE state SET modified = ?1 WHERE modified < ?2 OR modified > ?1", bounds)
        try tables.run("UPDATE refused SET refusedAt = ?1 WHERE refusedAt < ?2 OR refusedAt > ?1", bounds)
    }
}
