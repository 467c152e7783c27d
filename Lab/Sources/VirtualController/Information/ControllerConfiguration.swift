public import BeaconModel

/// How a controller is made.
public struct ControllerConfiguration: Hashable, Sendable {
    /// Its public address.
    public var address: DeviceAddress

    /// What it can do.
    public var generation: ControllerGeneration

    /// What its duplicate filter takes for a duplicate.
    public var duplicateRule: DuplicateRule

    /// Where its chance comes from: random numbers, and the delay between adverts.
    public var seed: UInt64

    /// How many bytes may wait for the host; an advert that comes while more do is lost, as in a real controller.
    public var outputLimit = 64 * 1024

    /// A controller from its parts.
    public init(
        address: DeviceAddress, generation: ControllerGeneration = .legacy, duplicateRule: DuplicateRule = .device,
        seed: UInt64 = 1
    ) {
        self.address = address
        self.generation = generation
        self.duplicateRule = duplicateRule
        self.seed = seed
    }
}
