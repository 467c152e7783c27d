import BeaconEngine

extension ClientEvent {
    /// What a client is told when a region's state is another than before: the state, and unless that was unknown before,
    /// that the region was entered or left, if the application wants to know.
    static func changes(of region: RegisteredRegion, from before: RegionState) -> [ClientEvent] {
        var events = [ClientEvent.determined(region)]
        guard before != .unknown else { return events }
        if region.state == .inside, region.notifiesOnEntry { events.append(.entered(region)) }
        if region.state == .outside, region.notifiesOnExit { events.append(.exited(region)) }
        return events
    }
}
