import BeaconRadio
import Foundation
import LinuxRadio
import Logging

extension BeaconCenter {
    /// The center of a task, where a test has one of its own.
    @TaskLocal static var ofTask: BeaconCenter?

    private static let shared = Locked<BeaconCenter?>(nil)

    /// The center that new managers belong to: that of the task or the callback which asks, else the one that was
    /// installed, else one for this application with the source that `BEACON_SOURCE` names.
    public static var current: BeaconCenter {
        if let ofTask { return ofTask }
        return shared.withLock { shared in
            if let shared { return shared }
            let new = makeForThisApplication()
            shared = new
            return new
        }
    }

    /// Makes a center the one that managers belong to which are made from now on.
    public static func install(_ center: BeaconCenter) { shared.withLock { $0 = center } }

    /// Makes a center that of a task, so that tests beside one another do not meet.
    public static func withCurrent<Result>(
        _ center: BeaconCenter, _ body: () async throws -> Result
    ) async rethrows -> Result {
        try await $ofTask.withValue(center) { try await body() }
    }

    /// Makes a center that of a stretch of code.
    public static func withCurrent<Result>(_ center: BeaconCenter, _ body: () throws -> Result) rethrows -> Result {
        try $ofTask.withValue(center) { try body() }
    }

    /// The most regions that Core Location lets an application monitor.
    public static let appleRegionLimit = 20

    /// The most conditions that Core Location lets an application monitor. Its article and its header do not agree whether
    /// regions count too; here they have a limit of their own.
    public static let appleConditionLimit = 20

    private static func makeForThisApplication() -> BeaconCenter {
        let logger = Logger(label: "swift-beacon")
        let application = ApplicationIdentity.current
        var configuration = CenterConfiguration(application: application, store: FileRegionStore(application))
        configuration.monitorStore = FileMonitorStore(application)
        configuration.launchStore = FileLaunchStore(application)
        configuration.maximumRegions = appleRegionLimit
        do throws(ServiceError) {
            configuration.policy = try AuthorizationPolicy(directory: .user)
        } catch {
            logger.error("nothing is granted to \(application): \(error)")
            configuration.initialStatus = .denied
        }
        let center = BeaconCenter(configuration)
        let specification = SourceSpecification(ProcessInfo.processInfo.environment["BEACON_SOURCE"] ?? "auto")
        do throws(RadioError) {
            if let selection = try specification.radio {
                center.use(LiveRadio(selection))
            } else {
                center.use(ReplayRadio(specification))
            }
        } catch {
            logger.error("BEACON_SOURCE: \(error)")
            center.perform { $0.receive(.state(.unsupported)) }
        }
        return center
    }
}
