import BeaconRadio
import CReference
import Glibc
@_spi(Measurement) import LinuxRadio

/// Adverts through a socket pair: read by a radio's source, or by the reference in C.
struct RadioRun {
    /// How many adverts there are.
    let count: Int

    /// Nanoseconds between two of them; 0 for as fast as they are taken.
    let period: Int64

    /// What a run gave.
    struct Outcome {
        /// Nanoseconds of processor time of the thread that reads.
        var time: Double = 0
        /// Nanoseconds from the kernel's stamp to the delivery, sorted.
        var delays: [Int64] = []
        /// Calls of `malloc` between the first advert and the last.
        var allocations: UInt64 = 0
    }

    func swift(allocations: () -> UInt64) -> Outcome {
        var outcome = Outcome()
        outcome.delays.reserveCapacity(count)
        let (own, other) = ends()
        radio_reference_start(other, count, period)
        guard var source = try? SourceReader(hciSocket: own, mode: .ranging, report: { _ in }) else {
            fatalError("there is no source")
        }
        var start: Int64 = 0
        var allocated: UInt64 = 0
        while outcome.delays.count < count {
            _ = try? source.next()
            // The work before the first adverts is done once, not for each.
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
        // The source ends its scan, which nobody answers any more; it waits for a moment and goes.
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
        precondition(radio_reference_pair(&ends) == 0, "there are no sockets")
        return (ends[0], ends[1])
    }

    /// The clock on the wall, which is the radio's too as long as nobody sets it.
    private static func now() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
