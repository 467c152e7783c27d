import BeaconEngine
import BeaconService

/// An application that does not run and wants to be started for its regions.
struct SleepingApplication: Hashable, Sendable {
    /// Which one it is.
    var key: ApplicationKey

    /// How it is started.
    var launch: ApplicationLaunch

    /// What it watches for, with the states that it knows.
    var regions: [RegisteredRegion]

    /// The same, as if it knew nothing of where its regions stand.
    var withoutStates: SleepingApplication {
        var copy = self
        for place in copy.regions.indices { copy.regions[place].state = .unknown }
        return copy
    }
}
