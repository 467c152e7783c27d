import BeaconRadio
import Foundation

/// What an application says of its launches, in files beside its regions.
public final class FileLaunchStore: LaunchStore {
    private let application: ApplicationIdentity
    private let directory: StateDirectory

    /// Held as long as this process lives.
    private let mark = Locked<FileLock?>(nil)
    private let isRegistered = Locked(false)

    /// The launches of an application.
    public init(_ application: ApplicationIdentity, in directory: StateDirectory = .user) {
        self.application = application
        self.directory = directory
    }

    /// Says that the application runs, and gives what happened while it did not. An application that has no state yet
    /// leaves none by this.
    public func begin() throws(ServiceError) -> [WaitingChange] {
        let folder = directory.folder(of: application)
        guard FileManager.default.fileExists(atPath: folder.path) else { return [] }
        try takeMark()
        return try directory.waitingChanges(of: application)
    }

    /// The application was told what had happened.
    public func clear() throws(ServiceError) { try directory.remove(directory.file("waiting", of: application)) }

    /// The application wants to be started for its regions, as it was started this time.
    public func register() throws(ServiceError) {
        let isNew = isRegistered.withLock { isRegistered in
            defer { isRegistered = true }
            return !isRegistered
        }
        guard isNew, let launch = ApplicationLaunch.current else { return }
        let file = directory.file("launch", of: application)
        if try directory.read(ApplicationLaunch.self, from: file) != launch { try directory.write(launch, to: file) }
        try takeMark()
    }

    /// The application does not want to be started any more.
    public func unregister() throws(ServiceError) {
        isRegistered.withLock { $0 = false }
        try directory.remove(directory.file("launch", of: application))
    }

    private func takeMark() throws(ServiceError) {
        let path = directory.runningMark(of: application).path
        try mark.withLock { mark throws(ServiceError) in
            if mark == nil { mark = try FileLock(shared: path) }
        }
    }
}
