package import BeaconModel
package import BeaconSupport
import CLibrary
import Dispatch
import Foundation

/// The changes of a relay's regions that the broker has not acknowledged, and the last state of each region, in memory
/// and in a file. They are kept in order and without a time limit.
///
/// A separate queue writes the file, so that a slow disk does not delay the receivers. If the machine loses power
/// before an acknowledgement is written, the change is sent again with the same id.
package final class TransitionStore: Sendable {
    /// A change that waits for the broker.
    struct Waiting: Codable, Hashable, Sendable {
        /// An id that is unique among all relays.
        var id: String
        /// The change as a JSON object.
        var line: String
    }

    private struct SavedRegion: Codable, Hashable {
        var constraint: String
        var state: RegionState
        /// The receiver that last heard it.
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

    /// The most changes in the store, some 3 MB: days of a shop's doors without a network.
    static let capacity = 10_000

    /// The time after which a failed write is repeated if no change triggers one: a full disk stays full for a while.
    private static let retryTime = DispatchTimeInterval.seconds(30)

    /// The largest file in bytes.
    private static let largestFile = 64 << 20

    /// The signal that a change was added.
    let signal = AsyncSignal()

    private let path: String
    private let lock: FileLock
    private let report: @Sendable (String) -> Void
    private let queue = DispatchQueue(label: "swift-beacon.relay")
    private let state: Locked<State>

    /// Reads the changes that were saved.
    ///
    /// - Parameters:
    ///   - path: the file. A damaged file is moved aside.
    ///   - report: called with notices for the operator.
    /// - Throws: ``StateError`` if it cannot be read, or if another relay uses it.
    package init(path: String, report: @escaping @Sendable (String) -> Void) throws(StateError) {
        self.path = path
        self.report = report
        if let slash = path.lastIndex(of: "/"), slash > path.startIndex {
            try AtomicFile.makeFolder(String(path[..<slash]))
        }
        guard let lock = try FileLock(alone: path + ".lock") else {
            throw StateError(.cannotWrite, "another relay of this name runs here, with \(path); stop it, or use --name")
        }
        self.lock = lock
        var content = Content()
        if access(path, F_OK) == 0 {
            let bytes = try SmallFile.contents(path: path, limit: Self.largestFile)
            if let saved = try? JSONDecoder().decode(Content.self, from: Data(bytes)), saved.version == 1 {
                content = saved
            } else {
                try AtomicFile.rename(path, to: path + ".damaged")
                report("\(path) is damaged; it was moved to \(path).damaged, and the changes in it are not sent.")
            }
        }
        state = Locked(State(content: content))
    }

    /// The number of changes that wait for the broker.
    package var count: Int { state.withLock { $0.content.waiting.count } }

    /// Returns a region's last known state, and the receiver that last heard it; unknown if the name belonged to
    /// another region.
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
        // The object is not empty. Insert the id as its first member.
        let waiting = Waiting(
            id: id, line: #"{"id":"\#(id)","# + String(decoding: line.dropFirst().dropLast(), as: UTF8.self))
        let isFirstDrop = state.withLock { state in
            // An unknown state keeps the last known one: the beacon may be gone once a receiver hears again.
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
            report("More than \(Self.capacity) changes of regions wait for the broker; dropping the oldest.")
        }
        save()
        signal.signal()
    }

    /// Returns the oldest changes.
    func first(_ count: Int) -> [Waiting] { state.withLock { Array($0.content.waiting.prefix(count)) } }

    /// Removes changes that the broker has acknowledged.
    func remove(_ ids: Set<String>) {
        guard !ids.isEmpty else { return }
        state.withLock { state in state.content.waiting.removeAll { ids.contains($0.id) } }
        save()
    }

    /// Waits until all earlier changes are written, or cannot be written.
    ///
    /// - Returns: true if they were written.
    package func flush() async -> Bool {
        await withCheckedContinuation { continuation in
            // Do not capture the store: the caller may release it, and its lock, before this block is gone.
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
            if isChange { report("Cannot save changes of regions; they are lost if this process ends: \(error)") }
            retry()
        }
    }

    /// Schedules one more write, in case no change follows.
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
