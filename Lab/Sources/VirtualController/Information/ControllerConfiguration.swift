public import BeaconModel

/// The fixed properties of a controller.
public struct ControllerConfiguration: Hashable, Sendable {
    /// The controller's public address.
    public var address: DeviceAddress

    /// The controller's features.
    public var generation: ControllerGeneration

    /// The rule of its duplicate filter.
    public var duplicateRule: DuplicateRule

    /// The seed for random numbers and for the delay between adverts.
    public var seed: UInt64

    /// The most bytes that wait for the host. Further adverts are lost, as in a real controller.
    public var outputLimit = 64 * 1024

    /// Creates a configuration from its parts.
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
