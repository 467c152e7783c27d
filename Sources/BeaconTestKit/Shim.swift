internal import BeaconMonitoring
internal import BeaconSupport
public import CoreLocation

@MainActor private var shimMakes: [ObjectIdentifier: @MainActor () -> Any] = [:]
@MainActor private var shimApps: [ObjectIdentifier: Any] = [:]
extension SimulatedDevice {
    public enum AppState: Hashable, Sendable { case notRunning, foreground; var isRunning: Bool { self == .foreground } }
    public enum Ender: Hashable, Sendable { case system, user }
    public enum TemporaryPermission: Hashable, Sendable { case once, provisionalAlways }
    public var appState: AppState { .foreground }
    @MainActor @discardableResult
    public func launch<App>(_ make: @escaping @MainActor () -> App) -> App {
        shimMakes[ObjectIdentifier(self)] = make
        let app = run { make() }
        shimApps[ObjectIdentifier(self)] = app
        return app
    }
    @MainActor public func app<App>(as type: App.Type = App.self) -> App? { shimApps[ObjectIdentifier(self)] as? App }
    public var isLaunchedByEvent: Bool { false }
    public func enterBackground() {}
    public func enterForeground() {}
    public func end(by ender: Ender) {}
    public func restart() {}
    public func unlock() {}
    public func turnScreenOn() {}
    public func turnScreenOff() {}
    public func authorize(_ permission: TemporaryPermission) {}
    public var accuracy: CLAccuracyAuthorization { get { .fullAccuracy } set {} }
    public var hasLocationBackgroundMode: Bool { get { true } set {} }
    public var backgroundPolicy: BackgroundPolicy { get { .init() } set {} }
    public struct BackgroundTask: Sendable { public func end() {} }
    @discardableResult
    public func beginBackgroundTask(name: String? = nil, expirationHandler: (@MainActor @Sendable () -> Void)? = nil) -> BackgroundTask { .init() }
}
public struct BackgroundPolicy: Hashable, Sendable {
    public struct Window: Hashable, Sendable { public static func fixed(_ duration: Duration) -> Window { .init() } }
    public enum LateDelegate: Hashable, Sendable { case losesTheEvent, receivesTheEvent }
    public var wakeWindow = Window.fixed(.seconds(10))
    public var lateDelegate = LateDelegate.losesTheEvent
}
