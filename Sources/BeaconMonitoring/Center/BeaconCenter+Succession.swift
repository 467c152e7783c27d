import BeaconApplications
import BeaconEngine
import BeaconModel
import BeaconRadio
import Synchronization

/// The parts of a center that belong to the device, and continue when its application ends.
package final class CenterHandover {
    fileprivate var core = MonitoringCore()
    fileprivate var regions: [BeaconCenter.Region] = []
    fileprivate var withheld: [WithheldChange] = []
    fileprivate var permission: AuthorizationPolicy.Permission
    fileprivate var radioState: RadioState
    fileprivate var outage: BeaconCenter.Outage?
    fileprivate var newestTime: Int64

    fileprivate init(_ center: isolated BeaconCenter) {
        (regions, withheld, permission) = (center.regions, center.withheld, center.permission)
        (radioState, outage) = (center.radioState, center.outage)
        newestTime = center.newestTime.load(ordering: .relaxed)
        swap(&core, &center.core)
    }
}

extension BeaconCenter {
    /// Ends the application in a test: its clients receive nothing more, and its requests have no effect. The device's
    /// part continues in another center, which takes it over.
    package func endApplication() -> UnsafeTransfer<CenterHandover> {
        gate.end()
        life = nil
        listening?.cancel()
        radio = nil
        for (id, own) in clientConditions {
            if let condition = own.condition { core.stopMonitoring(condition) }
            clientConditions[id] = nil
        }
        for ranging in rangings.values {
            if let request = ranging.request { core.stopRanging(request) }
        }
        core.drainEvents().forEach { _ in }
        (rangings, rangedConstraints, clients, clientOrder) = ([:], [:], [:], [])
        // The caller passes it on to one other center, and this one has replaced what it shares with it.
        defer { (regions, owners, withheld, withheldReports) = ([], [:], [], []) }
        return UnsafeTransfer(CenterHandover(self))
    }

    /// Continues the work of the center of the previous launch.
    package func takeOver(_ handover: UnsafeTransfer<CenterHandover>) {
        let old = handover.value
        swap(&core, &old.core)
        regions = old.regions
        owners = [:]
        for region in regions { owners[region.condition] = .region(region.registered.identifier) }
        withheld = old.withheld
        permission = old.permission
        (radioState, outage) = (old.radioState, old.outage)
        newestTime.store(old.newestTime, ordering: .relaxed)
        for place in regions.indices { save(regions[place].registered.identifier) }
        publish()
        update()
    }
}
