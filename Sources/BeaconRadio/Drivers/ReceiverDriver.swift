public import BeaconModel

/// A driver of receivers: an adapter, the gateways behind a broker, or a recording.
///
/// Nothing in a driver blocks. A loop waits for the driver's descriptors and its deadline, on one thread, and calls
/// ``process(at:into:)`` then. A driver outlives its hardware: where an adapter is unplugged or switched off, the
/// driver says so and waits for its return. A driver that can send is an ``Advertiser`` too.
public protocol ReceiverDriver: AnyObject {
    /// The driver as people know it: `hci0`.
    var name: String { get }

    /// True for a recording: its adverts have their own times, it ends, and nothing has to be waited for. Each step
    /// reads one record. A recording is the only driver of its source.
    var isRecording: Bool { get }

    /// Calls a function with each descriptor to wait for, and the events as `poll` names them. They may be others after
    /// each step.
    func forEachPoll(_ body: (_ descriptor: Int32, _ events: Int16) -> Void)

    /// The latest time for the next call of ``process(at:into:)``.
    var deadline: Timestamp { get }

    /// The state of the receivers as a whole.
    var state: RadioState { get }

    /// The names of the receivers. Adverts name a receiver by its place after ``AdvertBatch/firstReceiver``. A driver
    /// to which more are added later on is the only one of its source.
    var receiverNames: [String] { get }

    /// The status of each of these receivers.
    var receiverStatuses: [ReceiverStatus] { get }

    /// Carries out what is due: reads what has come without waiting for more, and adds adverts and events to `batch`.
    ///
    /// - Parameters:
    ///   - now: the time. The driver delivers everything that came before.
    ///   - batch: receives adverts, events, and of a recording the time and the end.
    /// - Throws: an error of a recording, which ends it. A failure of live receivers is an event.
    func process(at now: Timestamp, into batch: inout AdvertBatch) throws

    /// Sets the scan mode. The outcome is an event of a later ``process(at:into:)``.
    func scan(_ mode: ScanMode)

    /// Restores the scan and the adverts after the machine slept. The loop has reported that.
    func wokeUp(at now: Timestamp)

    /// Ends the scan and all advertising, before it returns.
    func close()
}

extension ReceiverDriver {
    /// False: it hears in real time.
    public var isRecording: Bool { false }

    /// Has no descriptor: nothing but time to wait for.
    public func forEachPoll(_ body: (_ descriptor: Int32, _ events: Int16) -> Void) {}

    /// None.
    public var deadline: Timestamp { .latest }

    /// Powered on, as for receivers that always hear.
    public var state: RadioState { .poweredOn }

    /// The driver's own.
    public var receiverNames: [String] { [name] }

    /// The driver's own.
    public var receiverStatuses: [ReceiverStatus] { [ReceiverStatus(state)] }

    /// Does nothing, for receivers that give all they hear.
    public func scan(_ mode: ScanMode) {}

    /// Does nothing, for receivers that a sleep of the machine does not change.
    public func wokeUp(at now: Timestamp) {}

    /// Does nothing.
    public func close() {}
}

/// A sender of iBeacon adverts: a driver that can send, or the radio of an app.
public protocol Advertiser: AnyObject {
    /// Sets the adverts to send, each as a separate advert. The outcome of each advert comes as an event.
    func advertise(_ adverts: [OutgoingAdvert])

    /// Has adverts change their address after a while, again and again; nil to keep it.
    func rotateAddresses(every rotation: Duration?)
}

extension Advertiser {
    /// Does nothing, for a sender whose addresses are chosen elsewhere.
    public func rotateAddresses(every rotation: Duration?) {}
}
