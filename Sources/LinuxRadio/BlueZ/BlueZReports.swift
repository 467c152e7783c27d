import BeaconModel
import BeaconRadio

/// What came over the bus since the loop last asked: calls come back while the library works, and a loop wants them all
/// behind one another.
final class BlueZReports {
    /// An advert that bluetoothd told of.
    struct Heard {
        var time: Timestamp
        var address: DeviceAddress
        var rssi: SignalStrength
        /// The AD structures as far as bluetoothd tells them.
        var advert: [UInt8]
    }

    /// The adapter, as `hci0`.
    var adapter: String

    /// The time at which the loop began to look.
    var now = Timestamp.zero

    /// What happened, in order.
    var events: [RadioEvent] = []

    /// What was heard, in order.
    var heard: [Heard] = []

    private var told: [RadioNotice.Kind: Set<String>] = [:]

    init(adapter: String) { self.adapter = adapter }

    /// Tells what whoever runs the radio should know.
    func tell(_ kind: RadioNotice.Kind, _ message: String) {
        events.append(.notice(RadioNotice(kind, adapter: adapter, message)))
    }

    /// Tells it unless a notice of this kind said the same before.
    func tellOnce(_ kind: RadioNotice.Kind, _ message: String) {
        guard told[kind, default: []].insert(message).inserted else { return }
        tell(kind, message)
    }

    /// Lets ``tellOnce(_:_:)`` tell this kind again.
    func forget(_ kind: RadioNotice.Kind) { told[kind] = nil }
}

extension BlueZReports {
    /// Tells that bluetoothd refused a call, once for each reason.
    func refused(_ call: String, _ error: BusError) {
        // The same for each attempt, so that it is told once.
        var remedy = "It is tried again, with longer and longer pauses."
        if error.isDenial {
            remedy = BlueZ.accessRemedy
        } else if error.name == "org.bluez.Error.Blocked" {
            remedy = "The radio is blocked: rfkill unblock bluetooth."
        }
        tellOnce(.commandFailed, "bluetoothd refused \(call): \(error). \(remedy)")
    }
}
