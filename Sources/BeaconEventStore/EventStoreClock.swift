public import BeaconModel
import CLibrary
import Foundation
import GRDB

/// The clocks of an event store: the wall clock, which may be wrong and may be set, and the clock since boot, which is
/// never set.
///
/// A small computer without a battery starts with a wrong date and gets the right one from the network. Events that
/// arrived before that would suddenly be years old, or never become old. The store therefore remembers the difference
/// between the two clocks. If it changes, the store corrects the times of this boot's events by the same amount.
public struct EventStoreClock: Sendable {
    /// Returns the time since 1970, by the wall clock.
    public var wall: @Sendable () -> Timestamp

    /// Returns the time since the machine was started, in nanoseconds, including suspension.
    public var sinceBoot: @Sendable () -> Int64

    /// The unique id of the boot.
    public var boot: String

    /// Waits for a duration, or throws an error if the task is canceled.
    public var sleep: @Sendable (Duration) async throws -> Void

    /// Creates clocks. Tests pass clocks other than the system's.
    ///
    /// - Parameters:
    ///   - wall: returns the time since 1970.
    ///   - sinceBoot: returns the nanoseconds since the machine was started.
    ///   - boot: the id of the boot.
    ///   - sleep: waits for a duration.
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
        // random(4): the kernel generates it at each boot.
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

    /// The clocks at this moment.
    var stopped: EventStoreClock {
        let (wall, sinceBoot) = (wall(), sinceBoot())
        return EventStoreClock(wall: { wall }, sinceBoot: { sinceBoot }, boot: boot, sleep: sleep)
    }

    /// The wall clock, in milliseconds since 1970.
    var now: Int64 { wall().milliseconds }

    /// The offset of the wall clock from the clock since boot, in milliseconds.
    var lead: Int64 { now - sinceBoot() / 1_000_000 }

    /// The smallest step of the wall clock, in milliseconds, that counts as setting it. Smaller steps do not matter for
    /// ages of days.
    static let smallestStep: Int64 = 60_000

    /// The earliest correct time, in milliseconds since 1970: the start of 2026, before this program was first
    /// released.
    static let earliest: Int64 = 1_767_225_600_000
}

extension Timestamp {
    /// The milliseconds since the origin.
    var milliseconds: Int64 { nanoseconds / 1_000_000 }

    /// The time at a number of milliseconds after the origin; it saturates.
    init(milliseconds: Int64) {
        let (product, overflow) = milliseconds.multipliedReportingOverflow(by: 1_000_000)
        self.init(nanoseconds: overflow ? (milliseconds < 0 ? 0 : .max) : product)
    }
}

extension Duration {
    /// The milliseconds, clamped to the range of 64 bits.
    var milliseconds: Int64 {
        let (seconds, attoseconds) = components
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1000)
        // Half of the range, so that adding a time cannot overflow.
        let bound = Int64.max / 4
        guard !overflow else { return seconds < 0 ? -bound : bound }
        return min(max(product &+ attoseconds / 1_000_000_000_000_000, -bound), bound)
    }
}

extension StepWriter {
    /// The time, in milliseconds, for which the wall clock is not trusted after a boot and after it was set: a computer
    /// without a battery gets the date from the network within minutes.
    private static let doubt: Int64 = 300_000

    /// Corrects the times of this boot if the wall clock was set since the last call. Times of an earlier boot whose
    /// clock stayed wrong or ran ahead are set to the current time, because their age is unknown.
    mutating func correctTimes(by clock: EventStoreClock) throws {
        let (lead, sinceBoot) = (clock.lead, clock.sinceBoot() / 1_000_000)
        let known = try tables.first("SELECT id, lead, firstNumber, trusted FROM boot") { row in
            (
                id: try row.text(0), lead: try row.integer(1), first: try row.integer(2),
                trusted: try row.integer(3)
            )
        }
        guard let known, known.id == clock.boot, !clock.boot.isEmpty else {
            let isEmpty = ledger.sequence == 0 && ledger.namespaces.isEmpty
            ledger.trusted = isEmpty ? 0 : sinceBoot + Self.doubt
            try tables.run("DELETE FROM boot")
            try tables.run(
                "INSERT INTO boot (id, lead, firstNumber, trusted) VALUES (?, ?, ?, ?)",
                [clock.boot, lead, ledger.sequence + 1, ledger.trusted])
            try repairTimes(before: .max)
            return
        }
        ledger.trusted = min(known.trusted, sinceBoot + Self.doubt)
        let step = lead &- known.lead
        guard step.magnitude >= UInt64(EventStoreClock.smallestStep) else { return }
        ledger.trusted = sinceBoot + Self.doubt
        try tables.run("UPDATE boot SET lead = ?, trusted = ?", [lead, ledger.trusted])
        try redate("time + ?1", "number >= ?2", [step.multipliedReportingOverflow(by: 1_000_000).0, known.first])
        try tables.run("UPDATE event SET arrival = arrival + ? WHERE number >= ?", [step, known.first])
        // Times of an earlier boot stay the same.
        try tables.run("UPDATE state SET modified = modified + ?1 WHERE modified >= ?2", [step, known.lead])
        try tables.run(
            "UPDATE delivery SET since = since + ?1 WHERE state IN (0, 2) AND since >= ?2", [step, known.lead])
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
        // A wrong clock cannot correct earlier times.
        guard now >= EventStoreClock.earliest else { return }
        let bounds: StatementArguments = [now, EventStoreClock.earliest]
        // Only the first events can be from such a boot; an index by arrival would cost more than this scan.
        let isWrong = "(arrival < ?2 OR arrival > ?1) AND number < ?3"
        try redate("?1 * 1000000", isWrong, bounds + [number])
        try tables.run("UPDATE event SET arrival = ?1 WHERE \(isWrong)", bounds + [number])
        try tables.run("UPDATE state SET modified = ?1 WHERE modified < ?2 OR modified > ?1", bounds)
        try tables.run(
            "UPDATE delivery SET since = ?1 WHERE state IN (0, 2) AND (since < ?2 OR since > ?1)", bounds)
    }

    /// Sets the times of events that this machine dated, before their arrivals are corrected. Events of senders, of
    /// captures and of simulations have their own times: they are not within an hour of the arrival by a wrong clock.
    private func redate(_ time: String, _ condition: String, _ values: StatementArguments) throws {
        try tables.run(
            "UPDATE event SET time = min(max(\(time), 0), \(Timestamp.latest.nanoseconds)) WHERE sender IS NULL "
                + "AND abs(time / 1000000 - arrival) < 3600000 AND \(condition)", values)
    }
}
