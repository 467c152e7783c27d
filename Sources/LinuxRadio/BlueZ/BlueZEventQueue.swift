import BeaconModel
import BeaconRadio

/// The queue of the events and adverts that arrived over the bus since the loop last read it. The library calls back
/// while it works; the loop then processes the queue in order.
final class BlueZEventQueue {
    /// An advert that bluetoothd reported.
    struct Heard {
        var time: Timestamp
        var address: DeviceAddress
        var rssi: SignalStrength
        var kind: AdvertisingReport.Kind
        /// The AD structures that bluetoothd reports.
        var advert: [UInt8]
    }

    /// The adapter, such as `hci0`.
    var adapter: String

    /// The time at which the loop's current step began.
    var now = Timestamp.zero

    /// The events, in order.
    var events: [SourceEvent] = []

    /// The adverts, in order.
    var heard: [Heard] = []

    private var reported: [RadioNotice.Kind: Set<String>] = [:]

    init(adapter: String) { self.adapter = adapter }

    /// Adds a notice.
    func report(_ kind: RadioNotice.Kind, _ message: String) {
        events.append(.notice(RadioNotice(kind, adapter: adapter, message)))
    }

    /// Adds a notice unless an earlier one of this kind had the same message.
    func reportOnce(_ kind: RadioNotice.Kind, _ message: String) {
        guard reported[kind, default: []].insert(message).inserted else { return }
        report(kind, message)
    }

    /// Lets ``reportOnce(_:_:)`` add notices of this kind again.
    func forget(_ kind: RadioNotice.Kind) { reported[kind] = nil }
}

extension BlueZEventQueue {
    /// Adds a notice that bluetoothd refused a call, once for each reason.
    func refused(_ call: String, _ error: BusError) {
        // The message is the same for each attempt, so that it is reported once.
        var remedy = "It is tried again, at increasing intervals."
        if error.isDenial {
            remedy = BlueZ.accessRemedy
        } else if error.name == "org.bluez.Error.Blocked" {
            remedy = "The radio is blocked: rfkill unblock bluetooth."
        }
        reportOnce(.commandFailed, "bluetoothd refused \(call): \(error). \(remedy)")
    }
}
