package import BeaconSupport
import Foundation

/// A store of an application's launch registration and of the events that it missed while it did not run.
///
/// All calls are synchronous and may wait for the disk and other processes. They may come from any thread or queue.
package protocol LaunchStore: Sendable {
    /// Marks the application as running until the process ends, and returns the region events that it missed before.
    ///
    /// - Throws: ``StateError`` if they cannot be read.
    func begin() throws(StateError) -> [PendingRegionEvent]

    /// Removes the missed events after they were delivered.
    ///
    /// - Throws: ``StateError`` if they cannot be removed.
    func clear() throws(StateError)

    /// Registers the application to be started in the same way as this process.
    ///
    /// - Throws: ``StateError`` if the registration cannot be written.
    func register() throws(StateError)

    /// Removes the registration.
    ///
    /// - Throws: ``StateError`` if it cannot be removed.
    func unregister() throws(StateError)

    /// Removes the registration if no process of the application has stored regions or conditions.
    ///
    /// - Throws: ``StateError`` if the regions or conditions cannot be read, or the registration cannot be removed.
    func unregisterIfUnused() throws(StateError)
}

/// A launch store in files beside the application's regions.
package final class FileLaunchStore: LaunchStore {
    private let application: ApplicationIdentity
    private let directory: StateDirectory

    /// A lock that this process holds while it lives.
    private let mark = Locked<FileLock?>(nil)

    /// Creates the launch store of an application.
    package init(_ application: ApplicationIdentity, in directory: StateDirectory = .user) {
        self.application = application
        self.directory = directory
    }

    /// Marks the application as running until the process ends, and returns the region events that it missed before.
    /// Creates no state for an application without state.
    package func begin() throws(StateError) -> [PendingRegionEvent] {
        let folder = directory.folder(of: application)
        guard FileManager.default.fileExists(atPath: folder.path) else { return [] }
        try takeMark()
        return try directory.pendingEvents(of: application)
    }

    package func clear() throws(StateError) { try directory.removePendingEvents(of: application) }

    package func register() throws(StateError) {
        guard let launch = ApplicationLaunch.current else { return }
        // Always checks the disk: a write may have failed, and another process may have removed the registration.
        try directory.register(launch, for: application)
        try takeMark()
    }

    package func unregister() throws(StateError) { try directory.unregister(application) }

    package func unregisterIfUnused() throws(StateError) { try directory.unregister(application, onlyIfUnused: true) }

    private func takeMark() throws(StateError) {
        let path = directory.runningMark(of: application).path
        try mark.withLock { mark throws(StateError) in
            if mark == nil { mark = try FileLock(shared: path) }
        }
    }
}
