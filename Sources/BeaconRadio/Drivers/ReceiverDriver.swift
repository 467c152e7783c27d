public import BeaconModel

/// A driver of receivers: an adapter, the gateways behind a broker, or a recording.
///
/// A driver never blocks. A loop waits for the driver's descriptors and its deadline, on one thread, and then calls
/// ``process(at:into:)``. A driver outlives its hardware: if an adapter is unplugged or switched off, the driver
/// reports this and waits for its return. A driver that can also send is an ``Advertiser``.
public protocol ReceiverDriver: AnyObject {
    /// The driver's name for people, such as `hci0`.
    var name: String { get }

    /// True for a recording: its adverts have their own times, it ends, and there is nothing to wait for. Each step
    /// reads one record. A recording is the only driver of its source.
    var isRecording: Bool { get }

    /// Calls a function with each descriptor to wait for, and the `poll` events. They may differ after each step.
    func forEachPoll(_ body: (_ descriptor: Int32, _ events: Int16) -> Void)

    /// The latest time for the next call of ``process(at:into:)``.
    var deadline: Timestamp { get }

    /// The state of the receivers as a whole.
    var state: RadioState { get }

    /// The names of the receivers. An advert's receiver number is ``AdvertBatch/firstReceiver`` plus an index into
    /// them. A driver that adds receivers later is the only one of its source.
    var receiverNames: [String] { get }

    /// The keys by which a configuration names these receivers; empty if it cannot.
    var receiverKeys: [String] { get }

    /// The status of each of these receivers.
    var receiverStatuses: [ReceiverStatus] { get }

    /// Performs the operations that are due: reads available data without waiting, and adds adverts and events to
    /// `batch`.
    ///
    /// - Parameters:
    ///   - now: the current time. The driver delivers everything that arrived before.
    ///   - batch: receives adverts and events, and the time and the end of a recording.
    /// - Throws: an error of a recording, which ends it. Live receivers report failures as events.
    func process(at now: Timestamp, into batch: inout AdvertBatch) throws

    /// Sets the scan mode. A later ``process(at:into:)`` reports the outcome as an event.
    func scan(_ mode: ScanMode)

    /// Restores the scan and the adverts after the machine slept. The loop has already reported the sleep.
    func wokeUp(at now: Timestamp)

    /// Ends the scan and all advertising before it returns.
    func close()
}

extension ReceiverDriver {
    /// False: the driver receives in real time.
    public var isRecording: Bool { false }

    /// Calls nothing: the driver waits only for time.
    public func forEachPoll(_ body: (_ descriptor: Int32, _ events: Int16) -> Void) {}

    /// No deadline.
    public var deadline: Timestamp { .latest }

    /// Powered on, as for receivers that always receive.
    public var state: RadioState { .poweredOn }

    /// The driver's name.
    public var receiverNames: [String] { [name] }

    /// No keys.
    public var receiverKeys: [String] { [] }

    /// The driver's state.
    public var receiverStatuses: [ReceiverStatus] { [ReceiverStatus(state)] }

    /// Does nothing, for receivers that deliver everything.
    public func scan(_ mode: ScanMode) {}

    /// Does nothing, for receivers that a sleep of the machine does not affect.
    public func wokeUp(at now: Timestamp) {}

    /// Does nothing.
    public func close() {}
}

/// A sender of iBeacon adverts: a driver that can send, or the radio of an app.
public protocol Advertiser: AnyObject {
    /// Sets the adverts to send, each as a separate advert. An event reports the outcome of each.
    func advertise(_ adverts: [OutgoingAdvert])

    /// Sets the interval at which adverts change their address; nil to keep it.
    func rotateAddresses(every rotation: Duration?)
}

extension Advertiser {
    /// Does nothing, for a sender that does not choose its addresses.
    public func rotateAddresses(every rotation: Duration?) {}
}
