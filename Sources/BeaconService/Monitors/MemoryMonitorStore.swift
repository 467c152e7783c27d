import BeaconRadio
public import Foundation

/// Monitors that last as long as this object: for tests, and for programs that want to leave no trace.
public final class MemoryMonitorStore: MonitorStore {
    private let contents = Locked<[String: Data]>([:])

    /// A store without monitors.
    public init() {}

    /// What was last written under a name; nil if nothing was.
    public func load(_ name: String) -> Data? { contents.withLock { $0[name] } }

    /// Replaces what was written under a name.
    public func save(_ content: Data, as name: String) { contents.withLock { $0[name] = content } }
}
