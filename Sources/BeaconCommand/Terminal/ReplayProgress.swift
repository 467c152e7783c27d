import BeaconModel
import BeaconTerminal
import CLibrary

/// The progress of a long replay, shown on standard error if that is a terminal and the results are not.
struct ReplayProgress {
    private let isShown: Bool
    private let start: Int64
    private var next: Int64
    private var steps = 0

    /// The number of records between two reads of the clock, which cost more than a record.
    private static let stride = 4096

    /// - Parameter isWanted: true if the results do not show the progress themselves.
    init(isWanted: Bool) {
        isShown = isWanted && Terminal.error.isInteractive
        start = Self.now()
        // A replay of less than a second needs no progress.
        next = start + 1_000_000_000
    }

    /// Counts a record, and shows the progress from time to time.
    mutating func step(packets: Int, time: Timestamp?) {
        guard isShown else { return }
        steps += 1
        guard steps % Self.stride == 0 else { return }
        let now = Self.now()
        guard now >= next else { return }
        next = now + 500_000_000
        let rate = Double(packets) / (Double(now - start) / 1e9)
        var text = "\(packets) packets, \(Int(rate / 1000)) 000 a second"
        if let time { text += ", at \(ClockText.dateAndTime(time))" }
        ErrorOutput.shared.show(text)
    }

    /// Clears the line.
    func clear() {
        ErrorOutput.shared.show("")
    }

    private static func now() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
