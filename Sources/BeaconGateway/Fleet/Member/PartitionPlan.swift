import BeaconFleet
import BeaconMonitoring

extension PartitionWork.Plan {
    /// Creates the plan for the part of a configuration that belongs to a partition.
    init(_ configuration: GatewayConfiguration, of partition: Int, in partitions: FleetPartitions) {
        self.init()
        let plan = MonitoringPlan(configuration, isShared: true)
        for (owner, region) in plan.conditions where partitions.partition(of: region.constraint) == partition {
            add(region, as: owner.label)
        }
        located = plan.located.filter { partitions.partition(of: $0) == partition }
        awaited = plan.awaited.filter { partitions.partition(of: $0) == partition }
        places = located.isEmpty ? nil : configuration.places
        calibrations = configuration.calibrations
        suspected = plan.suspected.filter { partitions.partition(of: $0) == partition }
        suspicions = suspected.isEmpty ? nil : configuration.suspicions?.rules
        positions = configuration.suspicions?.positions ?? [:]
    }
}
