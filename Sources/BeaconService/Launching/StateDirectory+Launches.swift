public import BeaconEngine
import Foundation

extension StateDirectory {
    /// The most changes that wait for an application. Where more happen, the oldest go.
    public static let mostWaitingChanges = 100

    /// The names of all applications that have state here.
    public var applications: [ApplicationIdentity] {
        let folder = url.appendingPathComponent("applications", isDirectory: true)
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return names.sorted().map { ApplicationIdentity($0) }.filter { names.contains($0.name) }
    }

    /// How an application wants to be started; nil where it does not.
    ///
    /// - Throws: ``ServiceError`` if that cannot be read.
    public func launch(of application: ApplicationIdentity) throws(ServiceError) -> ApplicationLaunch? {
        try read(ApplicationLaunch.self, from: file("launch", of: application))
    }

    /// What happened since an application ran last, oldest first.
    ///
    /// - Throws: ``ServiceError`` if that cannot be read.
    public func waitingChanges(of application: ApplicationIdentity) throws(ServiceError) -> [WaitingChange] {
        try read([WaitingChange].self, from: file("waiting", of: application)) ?? []
    }

    /// The regions that an application that does not run would have, were it told what happened since.
    ///
    /// - Throws: ``ServiceError`` if they cannot be read.
    public func regions(of application: ApplicationIdentity) throws(ServiceError) -> [RegisteredRegion] {
        var regions = try FileRegionStore(application, in: self).load()
        for change in try waitingChanges(of: application) { change.apply(to: &regions) }
        return regions
    }

    /// Whether an application runs.
    ///
    /// - Throws: ``ServiceError`` if that cannot be told.
    public func isRunning(_ application: ApplicationIdentity) throws(ServiceError) -> Bool {
        try FileLock(alone: runningMark(of: application).path) == nil
    }

    /// Keeps a change for an application that does not run.
    ///
    /// - Returns: the state that the region had for it before; nil where there is nothing to keep, because the application
    ///   runs and hears for itself, has no such region, or knows already.
    /// - Throws: ``ServiceError`` if it cannot be kept.
    public func keep(
        _ change: WaitingChange, for application: ApplicationIdentity
    ) throws(ServiceError) -> (region: RegisteredRegion, before: RegionState)? {
        // Whoever starts the application at this moment waits until this is written.
        guard let lock = try FileLock(alone: runningMark(of: application).path) else { return nil }
        defer { withExtendedLifetime(lock) {} }
        guard
            let region = try regions(of: application).first(where: {
                $0.identifier == change.identifier && $0.constraint == change.constraint
            }), region.state != change.state
        else { return nil }
        let changes = try waitingChanges(of: application) + [change]
        try write(Array(changes.suffix(Self.mostWaitingChanges)), to: file("waiting", of: application))
        return (region, region.state)
    }

    /// The file that an application holds a lock on while it runs.
    func runningMark(of application: ApplicationIdentity) -> URL {
        folder(of: application).appendingPathComponent("running")
    }

    /// Removes a file, if it is there.
    func remove(_ file: URL) throws(ServiceError) {
        do {
            try FileManager.default.removeItem(at: file)
        } catch CocoaError.fileNoSuchFile {
        } catch {
            throw ServiceError(
                .cannotWrite, "\(file.path) cannot be removed: \(error.localizedDescription)", cause: error)
        }
    }
}

extension WaitingChange {
    /// Gives the region that the change is about its state.
    ///
    /// - Returns: its place and the state before; nil where there is no such region, or it has that state already.
    @discardableResult
    func apply(to regions: inout [RegisteredRegion]) -> (place: Int, before: RegionState)? {
        guard
            let place = regions.firstIndex(where: { $0.identifier == identifier && $0.constraint == constraint }),
            regions[place].state != state
        else { return nil }
        defer { regions[place].state = state }
        return (place, regions[place].state)
    }
}
