import BeaconSupport
import Dispatch
import Foundation

/// A watch for changes of an application's permission by `beacon authorization` and the application's other processes.
///
/// It uses no CPU time while nothing changes: the kernel reports changes of the application's folder.
package final class AuthorizationWatch: Sendable {
    /// The polling interval if the kernel cannot observe more folders for this user.
    private static let interval = DispatchTimeInterval.seconds(2)

    /// Set once and then only cancelled, which any thread may do (dispatch_source_cancel(3)).
    private nonisolated(unsafe) let source: any DispatchSourceProtocol

    /// Starts to watch; nil while the application has no folder.
    ///
    /// - Parameters:
    ///   - application: the application.
    ///   - directory: the folder of state.
    ///   - queue: the queue on which changes are reported.
    ///   - report: called when the permission may have changed.
    init?(
        of application: ApplicationIdentity, in directory: StateDirectory, queue: DispatchQueue,
        report: @escaping @Sendable () -> Void
    ) {
        let folder = directory.folder(of: application).path
        guard FileManager.default.fileExists(atPath: folder) else { return nil }
        if let changes = FolderChanges(of: folder) {
            let reading = DispatchSource.makeReadSource(fileDescriptor: changes.descriptor, queue: queue)
            reading.setEventHandler {
                switch changes.read() {
                case .names(let names) where !names.contains("authorization.json"): break
                default: report()
                }
            }
            // The descriptor must stay open until the source no longer reads it.
            reading.setCancelHandler { withExtendedLifetime(changes) {} }
            reading.resume()
            source = reading
        } else {
            let timer = DispatchSource.makeTimerSource(queue: queue)
            timer.schedule(deadline: .now() + Self.interval, repeating: Self.interval)
            timer.setEventHandler(handler: report)
            timer.resume()
            source = timer
        }
    }

    deinit { source.cancel() }
}
