import BeaconApplications
import BeaconSupport
import Foundation
import Logging
package import Synchronization

extension BeaconCenter {
    /// The center of a task, if a test set one.
    @TaskLocal static var ofTask: BeaconCenter?

    private static let shared = Locked<BeaconCenter?>(nil)

    /// The center that new managers belong to: the center of the current task or callback, else the installed center,
    /// else a new center for this application with the source in `BEACON_SOURCE`.
    package static var current: BeaconCenter {
        if let ofTask { return ofTask }
        return shared.withLock { shared in
            if let shared { return shared }
            let new = makeForThisApplication()
            shared = new
            return new
        }
    }

    /// The center of the simulated device that the current code belongs to, or that is installed; nil otherwise.
    package static var ofSimulatedDevice: BeaconCenter? {
        guard hasSimulatedDevices.load(ordering: .relaxed), let center = ofTask ?? shared.withLock({ $0 }),
            center.owner != nil, !center.gate.isOver
        else { return nil }
        return center
    }

    /// Returns the current center for a new object of the app. In a test with a simulated air, an object that belongs
    /// to no device of it is logged.
    ///
    /// - Parameter name: the kind of object with its article, for the log.
    package static func forNew(_ name: String) -> BeaconCenter {
        let center = current
        if let owner = center.owner, center.gate.isOver {
            center.logger.warning(
                "\(name) receives nothing: it is created by code of an app that has ended, on \(owner)")
        } else if center.owner == nil, ofTask == nil, hasSimulatedDevices.load(ordering: .relaxed) {
            center.logger.warning(
                """
                \(name) belongs to no device of a simulated air, so it uses this machine's radio and hears no simulated \
                beacon. Create it inside air.device.run or air.device.launch, or call air.install() first. \
                DispatchQueue.async and Task.detached leave the closure of run; use Task there instead
                """)
        }
        return center
    }

    /// Logs that an object of this device is used by the code of another air's device, where it makes no callbacks.
    ///
    /// - Parameter name: the kind of object with its article.
    package nonisolated func reportForeignUse(of name: String, by other: BeaconCenter) {
        guard let owner, let user = other.owner, owner.airNumber != user.airNumber,
            !hasReportedForeignUse.exchange(true, ordering: .relaxed)
        else { return }
        logger.warning(
            """
            \(name.prefix(1).uppercased())\(name.dropFirst()) belongs to \(owner), and keeps belonging to it while that air exists, but \(user) uses it. A static \
            property keeps the device of its first use: run such tests one after another (.serialized), or create the \
            object for each air
            """)
    }

    /// Sets the center that new managers belong to.
    package static func install(_ center: BeaconCenter) { shared.withLock { $0 = center } }

    /// Replaces `old` as the center that new managers belong to, if `old` is still installed.
    package static func install(_ center: BeaconCenter, inPlaceOf old: BeaconCenter) {
        shared.withLock { if $0 === old { $0 = center } }
    }

    /// Sets the center of a task, so that parallel tests are isolated.
    package static func withCurrent<Result>(
        _ center: BeaconCenter, isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Result
    ) async rethrows -> Result {
        try await $ofTask.withValue(center, operation: body, isolation: isolation)
    }

    /// Sets the current center while `body` runs.
    package static func withCurrent<Result>(_ center: BeaconCenter, _ body: () throws -> Result) rethrows -> Result {
        try $ofTask.withValue(center) { try body() }
    }

    /// The maximum number of regions that Core Location lets an application monitor.
    package static let appleRegionLimit = 20

    /// The maximum number of conditions that Core Location lets an application monitor. Apple's article and header
    /// disagree on whether regions count too; here, regions have a separate limit.
    package static let appleConditionLimit = 20

    /// True once this process has a device in a simulated air.
    package static let hasSimulatedDevices = Atomic(false)

    private static func makeForThisApplication() -> BeaconCenter {
        let logger = Logger(label: "swift-beacon")
        let application = ApplicationIdentity.current
        let directory = StateDirectory.user.reporting { logger.error("\($0)") }
        var configuration = CenterConfiguration(
            application: application, store: FileRegionStore(application, in: directory))
        configuration.monitorStore = FileMonitorStore(application, in: directory)
        configuration.launchStore = FileLaunchStore(application, in: directory)
        configuration.maximumRegions = appleRegionLimit
        switch ProcessInfo.processInfo.environment["BEACON_CORE_BLUETOOTH"] {
        case nil, "", "ios": break
        case "macos": configuration.hidesBeaconsFromScans = false
        case let other?:
            logger.error(
                "BEACON_CORE_BLUETOOTH is \"\(other)\"; use macos or ios. Hiding iBeacons, as on iOS")
        }
        do {
            try CalibrationSet(optionalFile: CalibrationSet.userFile).apply(to: &configuration.engine)
        } catch {
            logger.error("\(error); using the power that beacons advertise")
        }
        do throws(StateError) {
            let policy = try AuthorizationPolicy(directory: directory)
            configuration.policy = policy
            if policy.isStrict(for: application), !application.infoPlist.backgroundModes.contains("location") {
                logger.notice(
                    """
                    not starting the app for its regions, as on iOS: UIBackgroundModes in its Info.plist lacks \
                    "location"
                    """)
                configuration.mayBeStarted = false
            }
        } catch {
            logger.error("denying all permissions to \(application): \(error)")
            configuration.initialStatus = .denied
        }
        // An empty value is the same as an unset one: containers pass unset variables on as empty.
        let source = SourceSpecification(ProcessInfo.processInfo.environment["BEACON_SOURCE"] ?? "auto")
        // An app asks for it before the radio has been opened. The bluetoothd of another bus can have other adapters.
        configuration.lacksRadio =
            source.lacksAdapter && ProcessInfo.processInfo.environment["DBUS_SYSTEM_BUS_ADDRESS"] == nil
        let center = BeaconCenter(configuration)
        center.use(SourceRunner(source, pace: .times(1)))
        return center
    }
}
