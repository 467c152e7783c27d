package import BeaconModel
package import BeaconSupport
import CLibrary
import Dispatch
import Foundation

/// The changes of a relay's regions that the broker has not acknowledged, and the last state of each region, in memory
/// and in a file. They are kept for as long as it takes, in order.
///
/// The file is written on a queue of its own, so that a slow disk holds up nothing that is heard. A change whose
/// acknowledgement was not written before the machine lost power is sent twice, with the same id.
package final class TransitionStore: Sendable {
    /// A change that waits for the broker.
    struct Waiting: Codable, Hashable, Sendable {
        /// A name that no other change of any relay has.
        var id: String
        /// The change as an object of JSON.
        var line: String
    }

    private struct SavedRegion: Codable, Hashable {
        var constraint: String
        var state: RegionState
        /// The receiver that kept it last.
        var holder: String?
    }

    private struct Content: Codable {
        var version = 1
        var regions: [String: SavedRegion] = [:]
        var waiting: [Waiting] = []
    }

    private struct State {
        var content: Content
        var dropped = 0
        var isQueued = false
        var hasFailed = false
        var isRetrying = false
    }

    /// The most changes that wait, some 3 MB: days of a shop's doors without a network.
    static let capacity = 10_000

    /// How long a failed write waits for another change: a disk that is full stays so for a while.
    private static let retryTime = DispatchTimeInterval.seconds(30)

    /// The largest file in bytes.
    private static let largestFile = 64 << 20

    /// The signal that there is something to send.
    let signal = AsyncSignal()

    private let path: String
    private let lock: FileLock
    private let report: @Sendable (String) -> Void
    private let queue = DispatchQueue(label: "swift-beacon.relay")
    private let state: Locked<State>

    /// Reads what waits since the last time.
    ///
    /// - Parameters:
    ///   - path: the file. A damaged one is set aside.
    ///   - report: called with what an operator should know.
    /// - Throws: ``StateError`` where it cannot be read, or another relay has it.
    package init(path: String, report: @escaping @Sendable (String) -> Void) throws(StateError) {
        self.path = path
        self.report = report
        if let slash = path.lastIndex(of: "/"), slash > path.startIndex {
            try AtomicFile.makeFolder(String(path[..<slash]))
        }
        guard let lock = try FileLock(alone: path + ".lock") else {
            throw StateError(.cannotWrite, "another relay of this name runs here, with \(path); end it, or use --name")
        }
        self.lock = lock
        var content = Content()
        if access(path, F_OK) == 0 {
            let bytes = try SmallFile.contents(path: path, limit: Self.largestFile)
            if let saved = try? JSONDecoder().decode(Content.self, from: Data(bytes)), saved.version == 1 {
                content = saved
            } else {
                try AtomicFile.rename(path, to: path + ".damaged")
                report("\(path) is damaged; it was moved to \(path).damaged, and what waited in it is not sent.")
            }
        }
        state = Locked(State(content: content))
    }

    /// The number of changes that wait for the broker.
    package var count: Int { state.withLock { $0.content.waiting.count } }

    /// Returns a region's state when it was last known, and the receiver that kept it; unknown where another had its
    /// name.
    package func state(of region: String, constraint: BeaconConstraint) -> (state: RegionState, holder: String?) {
        state.withLock { state in
            guard let saved = state.content.regions[region], saved.constraint == constraint.description else {
                return (.unknown, nil)
            }
            return (saved.state, saved.holder)
        }
    }

    /// Adds a change.
    func add(_ change: RegionEvent, id: String) {
        var line: [UInt8] = []
        EventJSON.append(change, to: &line)
        // The object has members, and the id is the first of them.
        let waiting = Waiting(
            id: id, line: #"{"id":"\#(id)","# + String(decoding: line.dropFirst().dropLast(), as: UTF8.self))
        let isFirstDrop = state.withLock { state in
            // While nobody knows, the last state that was known counts: the beacon may be gone when somebody hears
            // again.
            let known = change.state == .unknown ? change.before : change.state
            let holder = change.receiver ?? state.content.regions[change.name]?.holder
            state.content.regions[change.name] = SavedRegion(
                constraint: change.constraint.description, state: known, holder: known == .inside ? holder : nil)
            state.content.waiting.append(waiting)
            guard state.content.waiting.count > Self.capacity else { return false }
            state.content.waiting.removeFirst()
            state.dropped += 1
            return state.dropped == 1
        }
        if isFirstDrop {
            report("More than \(Self.capacity) changes of regions wait for the broker; the oldest are dropped.")
        }
        save()
        signal.signal()
    }

    /// Returns the oldest changes.
    func first(_ count: Int) -> [Waiting] { state.withLock { Array($0.content.waiting.prefix(count)) } }

    /// Removes changes that the broker has.
    func remove(_ ids: Set<String>) {
        guard !ids.isEmpty else { return }
        state.withLock { state in state.content.waiting.removeAll { ids.contains($0.id) } }
        save()
    }

    /// Returns when everything so far has been written, or cannot be.
    ///
    /// - Returns: true where it was written.
    package func flush() async -> Bool {
        await withCheckedContinuation { continuation in
            // The store is not kept by this block: who waits may let go of it, and of its lock, before the block is
            // gone.
            queue.async { [state] in continuation.resume(returning: state.withLock { !$0.hasFailed }) }
        }
    }

    private func save() {
        let isFirst = state.withLock { state in
            defer { state.isQueued = true }
            return !state.isQueued
        }
        if isFirst { queue.async { self.write() } }
    }

    private func write() {
        let content = state.withLock { state in
            state.isQueued = false
            return state.content
        }
        do {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            try AtomicFile.replace(path, with: encoder.encode(content))
            let wasFailing = state.withLock { state in
                defer { state.hasFailed = false }
                return state.hasFailed
            }
            if wasFailing { report("Changes of regions are saved again.") }
        } catch {
            let isChange = state.withLock { state in
                defer { state.hasFailed = true }
                return !state.hasFailed
            }
            if isChange { report("Changes of regions cannot be saved, and are lost if this process ends: \(error)") }
            retry()
        }
    }

    /// Writes again in a while, once, also where no change comes.
    private func retry() {
        let isFirst = state.withLock { state in
            defer { state.isRetrying = true }
            return !state.isRetrying
        }
        guard isFirst else { return }
        queue.asyncAfter(deadline: .now() + Self.retryTime) {
            self.state.withLock { $0.isRetrying = false }
            self.write()
        }
    }
}
