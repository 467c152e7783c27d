import BeaconSupport

/// An observation that a test makes of an app.
package enum AppObservation: Sendable {
    /// A callback that an object of the app is about to receive.
    case callback(ClientEvent)
    /// An event of a monitor, with the name of its state, that a task of the app is about to receive.
    case monitorEvent(String)
    /// The app asked for location updates in the background.
    case backgroundUpdates
}

/// The observer of a center's app, if there is one.
package final class CallbackObserver: Sendable {
    private let observer = Locked<(@Sendable (AppObservation) -> Void)?>(nil)

    func set(_ new: @escaping @Sendable (AppObservation) -> Void) { observer.withLock { $0 = new } }

    func note(_ observation: AppObservation) { observer.withLock { $0 }?(observation) }
}

extension BeaconCenter {
    /// Observes the callbacks to the app. They are made in the context of the callback, before it.
    package nonisolated func observe(_ observer: @escaping @Sendable (AppObservation) -> Void) {
        self.observer.set(observer)
    }

    /// Reports what an object of the app receives or does.
    package nonisolated func noteObservation(_ observation: AppObservation) { observer.note(observation) }
}
