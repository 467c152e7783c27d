import BeaconRadio
import CReference
import Glibc
@_spi(Measurement) import LinuxRadio

/// Adverts through a socket pair, read by a radio's source or by the reference in C.
struct RadioRun {
    /// The number of adverts.
    let count: Int

    /// The nanoseconds between two adverts; 0 for maximum speed.
    let period: Int64

    /// The result of a run.
    struct Outcome {
        /// The processor time of the reading thread in nanoseconds.
        var time: Double = 0
        /// The nanoseconds from the kernel's timestamp to the delivery, sorted.
        var delays: [Int64] = []
        /// The number of calls of `malloc` between the first and the last advert.
        var allocations: UInt64 = 0
    }

    func swift(allocations: () -> UInt64) -> Outcome {
        var outcome = Outcome()
        outcome.delays.reserveCapacity(count)
        let (own, other) = ends()
        radio_reference_start(other, count, period)
        guard var source = try? SourceReader(hciSocket: own, mode: .ranging, report: { _ in }) else {
            fatalError("cannot create a source")
        }
        var start: Int64 = 0
        var allocated: UInt64 = 0
        while outcome.delays.count < count {
            _ = try? source.next()
            // The setup before the first adverts happens once, not for each advert.
            if outcome.delays.isEmpty, !source.sightings.isEmpty {
                start = radio_reference_time()
                allocated = allocations()
            }
            for sighting in source.sightings {
                outcome.delays.append(period == 0 ? 0 : Self.now() - sighting.time.nanoseconds)
            }
        }
        outcome.time = Double(radio_reference_time() - start)
        outcome.allocations = allocations() - allocated
        radio_reference_join()
        outcome.delays.sort()
        // The source ends its scan without an answer: it waits briefly and ends.
        close(other)
        return outcome
    }

    func reference() -> Outcome {
        var outcome = Outcome()
        var delays = [Int64](repeating: 0, count: count)
        let (own, other) = ends()
        radio_reference_start(other, count, period)
        let start = radio_reference_time()
        let bytes =
            period == 0
            ? radio_reference_read(own, count, nil)
            : delays.withUnsafeMutableBufferPointer { radio_reference_read(own, count, $0.baseAddress) }
        outcome.time = Double(radio_reference_time() - start)
        precondition(bytes >= count * 30, "the reference misses adverts")
        radio_reference_join()
        outcome.delays = delays.sorted()
        close(own)
        close(other)
        return outcome
    }

    private func ends() -> (own: Int32, other: Int32) {
        var ends: [Int32] = [-1, -1]
        precondition(radio_reference_pair(&ends) == 0, "cannot create sockets")
        return (ends[0], ends[1])
    }

    /// Returns the wall clock, which equals the radio's clock unless the clock is set.
    private static func now() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
