import BeaconModel
import BeaconRadio

/// One adapter, driven from the one thread that waits for it.
///
/// Nothing in a driver blocks: a loop waits for its descriptor and its deadline, and calls it then. A driver outlives its
/// adapter: where that is unplugged or switched off, the driver says so and waits for its return.
protocol AdapterDriver: AnyObject {
    /// The adapter as people know it: `hci0`.
    var name: String { get }

    /// What to wait for, or -1 while there is nothing but time. It may be another after each call.
    var descriptor: Int32 { get }

    /// What to wait for at the descriptor, as `poll` names it.
    var interest: Int16 { get }

    /// When the driver wants to be called at the latest, whatever happens.
    var deadline: Timestamp { get }

    /// Whether this adapter can hear and send now, and why not.
    var state: RadioState { get }

    /// Does what is due at `now`: reads what has come without waiting for more, hands over each advert with its AD
    /// structures, and tells what happened. The events are no sightings and no times, which the loop sees to.
    ///
    /// - Parameter receiver: the number that this adapter's adverts carry.
    /// - Throws: only what `deliver` throws. What goes wrong with the adapter is told as an event.
    func process(
        at now: Timestamp, as receiver: ReceiverID, deliver: (Reception, RawSpan) throws -> Void,
        tell: (RadioEvent) -> Void
    ) throws

    /// Listens this hard from now on. What comes of it is told by the next ``process(at:as:deliver:tell:)``.
    func scan(_ mode: ScanMode)

    /// Sends these frames from now on and no others. What comes of it is told by the next
    /// ``process(at:as:deliver:tell:)``.
    func advertise(_ frames: [IBeaconFrame])

    /// Takes back what is on the air and ends the scan, before it returns.
    func close()
}
