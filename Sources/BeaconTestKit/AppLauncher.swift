internal import BeaconSupport

/// The code and the memory of a device's app, which are used on the main actor.
@MainActor
final class AppLauncher {
    /// Makes the app; nil before the first launch by a closure.
    var make: (@MainActor () -> Any)?
    /// The object that the closure returned; nil while the app does not run.
    var app: Any?

    nonisolated init() {}
}
