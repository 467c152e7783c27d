public import BeaconModel

/// A receiver of adverts, and a sender where the hardware is one: a Bluetooth controller, a capture that plays, the
/// simulated air.
///
/// A radio is told what to do and tells what happens as a sequence of events, to one listener. Nothing that it is asked
/// blocks the caller.
public protocol Radio: Sendable {
    /// What the radio tells.
    associatedtype Events: AsyncSequence<RadioEvent, Never> & Sendable

    /// What happens, from now on, to one listener. The first event tells the state.
    func events() -> Events

    /// Listens this hard from now on.
    func scan(_ mode: ScanMode)

    /// Sends these frames from now on and no others, each as an advert of its own; none where there are none. How it went
    /// comes as an event.
    func advertise(_ frames: [IBeaconFrame])
}
