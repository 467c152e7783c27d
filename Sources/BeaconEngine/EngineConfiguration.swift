/// The engine's settings.
public struct EngineConfiguration: Sendable {
    /// The most beacons that are tracked at once, each by receiver and address: the bound on the engine's memory, at
    /// less than 200 bytes each. Where there are more, those unheard for longest give way; regions do not notice.
    /// It is 16 777 215 at most.
    public var maximumTrackedBeacons = 65_536

    /// How signal becomes nearness.
    public var strategy = RangingStrategy()

    /// A number that decides how beacons are spread over the engine's tables. It changes no result. Where strangers
    /// could send adverts made to collide, give a random one.
    public var hashSeed: UInt64 = 0

    /// The settings that fit most uses.
    public init() {}
}
