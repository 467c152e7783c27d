public import BeaconModel
import CLibrary
import Foundation
import GRDB

/// The clocks of an outbox: the wall clock, which may be wrong and be set, and that of the boot, which only runs.
///
/// A small computer without a battery starts with a wrong date and learns the right one from the network. What it
/// collected before then would be years old at once, or never be old. So the difference of the two clocks is stored,
/// and where it changes, the times of what was added in this boot are corrected by as much.
public struct OutboxClock: Sendable {
    /// Returns the time since 1970, by the wall clock.
    public var wall: @Sendable () -> Timestamp

    /// Returns the time since the machine was started, in nanoseconds, sleep included.
    public var sinceBoot: @Sendable () -> Int64

    /// The name of the boot, which another boot has not.
    public var boot: String

    /// Creates clocks; others than the system's are for tests.
    public init(
        wall: @escaping @Sendable () -> Timestamp, sinceBoot: @escaping @Sendable () -> Int64, boot: String
    ) {
        self.wall = wall
        self.sinceBoot = sinceBoot
        self.boot = boot
    }

    /// The system's clocks.
    public static var system: OutboxClock {
        // random(4): the kernel draws it at each boot.
        let id = try? String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8)
        return OutboxClock(
            wall: WallClock.now,
            sinceBoot: {
                var time = timespec()
                clock_gettime(CLOCK_BOOTTIME, &time)
                return Int64(time.tv_sec) * Timestamp.nanosecondsPerSecond + Int64(time.tv_nsec)
            }, boot: id?.trimmingCharacters(in: .whitespacesAndNewlines) ?? "")
    }

    /// The milliseconds by which the wall clock is ahead of that of the boot.
    var lead: Int64 { wall().milliseconds - sinceBoot() / 1_000_000 }
}

extension OutboxTables {
    /// The least step of the wall clock, in milliseconds, that counts as set. Less does not matter to ages of days.
    static let smallestStep: Int64 = 60_000

    /// A wall clock before this is wrong, in milliseconds since 1970: 2026 began before this program was first
    /// released.
    private static let earliest: Int64 = 1_767_225_600_000

    /// Corrects the times of the notifications and failures of this boot where the wall clock was set since the last
    /// call. Those of an earlier boot whose clock was wrong to its end, or ran ahead, count as added now: nothing tells
    /// their age.
    ///
    /// - Parameters:
    ///   - clock: the clocks.
    ///   - now: the wall clock, in milliseconds since 1970.
    func correctTimes(by clock: OutboxClock, now: Int64) throws {
        let lead = clock.lead
        let known = try Row.fetchOne(database, sql: "SELECT id, lead, firstSequence FROM boot")
        guard let known, known["id"] as String == clock.boot, !clock.boot.isEmpty else {
            try run("DELETE FROM boot")
            try run(
                """
                INSERT INTO boot (id, lead, firstSequence)
                SELECT ?, ?, coalesce(max(sequence), 0) + 1 FROM notification
                """, [clock.boot, lead])
            try repairTimes(now: now, before: .max)
            return
        }
        let step = lead - (known["lead"] as Int64)
        guard abs(step) >= Self.smallestStep else { return }
        try run("UPDATE boot SET lead = ?", [lead])
        let (first, began) = (known["firstSequence"] as Int64, known["lead"] as Int64)
        // Failures since an earlier boot keep their time.
        try run("UPDATE destination SET failingSince = failingSince + ?1 WHERE failingSince >= ?2", [step, began])
        try run("UPDATE notification SET addedAt = addedAt + ? WHERE sequence >= ?", [step, first])
        try repairTimes(now: now, before: first)
    }

    /// Has notifications of earlier boots whose times cannot be right count as added now.
    private func repairTimes(now: Int64, before sequence: Int64) throws {
        // What a wrong clock says now says nothing of what was said then.
        guard now >= Self.earliest else { return }
        try run(
            "UPDATE notification SET addedAt = ?1 WHERE (addedAt < ?2 OR addedAt > ?1) AND sequence < ?3",
            [now, Self.earliest, sequence])
    }
}
