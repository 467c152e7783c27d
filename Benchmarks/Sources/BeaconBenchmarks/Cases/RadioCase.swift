import CAllocationCounter

/// The cost of an advert through a socket in comparison with a plain reader in C: at maximum speed, and at 2 000
/// adverts a second, each of which wakes the process.
struct RadioCase {
    let rounds: Int

    func run() -> [Measured] {
        var results: [Measured] = []
        var fast = (swift: Samples(), reference: Samples())
        var allocations = 0.0
        let flood = RadioRun(count: 200_000, period: 0)
        for _ in 0..<rounds {
            let swift = flood.swift(allocations: allocation_count)
            fast.swift.add(nanoseconds: swift.time, adverts: flood.count)
            fast.reference.add(nanoseconds: flood.reference().time, adverts: flood.count)
            allocations = max(allocations, Double(swift.allocations) / Double(flood.count))
        }
        results.append(
            Measured(
                name: "radio/flood", meaning: "Swift / C, reading a socket as fast as adverts come",
                value: fast.swift.ratio(to: fast.reference), swift: fast.swift.median, reference: fast.reference.median)
        )
        results.append(Measured(name: "radio/allocations", meaning: "allocations per advert", value: allocations))

        var paced = (swift: Samples(), reference: Samples())
        var delays = (swift: Samples(), reference: Samples())
        let crowd = RadioRun(count: 4000, period: 500_000)
        for _ in 0..<max(1, rounds / 2) {
            let swift = crowd.swift(allocations: allocation_count)
            let reference = crowd.reference()
            paced.swift.add(nanoseconds: swift.time, adverts: crowd.count)
            paced.reference.add(nanoseconds: reference.time, adverts: crowd.count)
            delays.swift.add(nanoseconds: Self.worst(swift.delays), adverts: 1)
            delays.reference.add(nanoseconds: Self.worst(reference.delays), adverts: 1)
        }
        results.append(
            Measured(
                name: "radio/crowd", meaning: "Swift / C, reading 2 000 adverts a second",
                value: paced.swift.ratioOfLeast(to: paced.reference), swift: paced.swift.median,
                reference: paced.reference.median))
        results.append(
            Measured(
                name: "radio/delay", meaning: "ms from the kernel's stamp to delivery, p99, Swift - C",
                value: (delays.swift.median - delays.reference.median) / 1_000_000, swift: delays.swift.median,
                reference: delays.reference.median))
        return results
    }

    /// Returns the 99th percentile.
    private static func worst(_ delays: [Int64]) -> Double { Double(delays[delays.count * 99 / 100]) }
}
