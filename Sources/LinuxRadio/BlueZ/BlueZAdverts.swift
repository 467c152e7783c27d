import BeaconModel
import BeaconRadio

/// The adverts that bluetoothd sends for us, one registration for each. bluetoothd removes them by itself when our
/// connection ends for any reason.
final class BlueZAdverts {
    /// The desired registration of an advert.
    private struct Goal: Equatable {
        var contents: OutgoingAdvert
        /// True if it is the only advert, so that none takes turns with it.
        var isAlone: Bool
    }

    /// One advert and its registration, which succeeds or fails independently of the others.
    private final class Advert {
        let contents: OutgoingAdvert
        let path: String
        var operation = RetryingOperation<Goal>()
        var object: BusObject?
        var call: BusSlot?
        /// True if the last outcome reported was a failure.
        var hasFailed = false
        /// True if the newest request has no outcome yet.
        var isWaiting = true

        init(_ contents: OutgoingAdvert, at path: String) {
            self.contents = contents
            self.path = path
        }
    }

    private let bus: SystemBus
    private let path: String
    private let root: String
    private let queue: BlueZEventQueue
    private var adverts: [Advert] = []
    private var nextNumber = 0
    private var goal: [OutgoingAdvert] = []

    /// True if bluetoothd keeps the requested interval. Up to version 5.66 it does so only with --experimental.
    var keepsInterval = true

    init(on bus: SystemBus, _ path: String, _ queue: BlueZEventQueue) {
        self.bus = bus
        self.path = path
        self.queue = queue
        root = "/swift_beacon/\(queue.adapter)/adverts"
    }

    /// The adverts to send. An advert that is already being sent stays on the air.
    var wanted: [OutgoingAdvert] {
        get { goal }
        set {
            guard newValue != goal else { return }
            goal = newValue
            let wanted = newValue.enumerated().filter { newValue.firstIndex(of: $0.element) == $0.offset }
                .map(\.element)
            for advert in adverts where !wanted.contains(advert.contents) { advert.operation.wanted = nil }
            for contents in wanted {
                let goal = Goal(contents: contents, isAlone: wanted.count == 1)
                if let advert = adverts.first(where: { $0.contents == contents }) {
                    if advert.operation.wanted == nil { (advert.isWaiting, advert.hasFailed) = (true, false) }
                    advert.operation.wanted = goal
                } else {
                    // Numbers are not reused, since an object stays until bluetoothd has answered.
                    let advert = Advert(contents, at: "\(root)/\(nextNumber)")
                    nextNumber += 1
                    advert.operation.wanted = goal
                    adverts.append(advert)
                }
            }
        }
    }

    /// Reports an outcome for each advert again, since the client repeated its request.
    func reportAgain() {
        for advert in adverts where advert.operation.wanted != nil {
            advert.isWaiting = true
            advert.hasFailed = false
            if advert.operation.isSettled { succeeded(advert) } else { advert.operation.retryNow() }
        }
    }

    /// The latest time for the next call of ``advance()``.
    var deadline: Timestamp { adverts.reduce(.latest) { min($0, $1.operation.deadline) } }

    /// True if bluetoothd does nothing for us and no operation is pending.
    var isIdle: Bool { adverts.allSatisfy(\.operation.isIdle) }

    /// Performs the operations that are due.
    func advance() {
        // Unwanted adverts end first, so that their instances are free for new ones.
        for advert in adverts.filter({ $0.operation.wanted == nil }) + adverts.filter({ $0.operation.wanted != nil }) {
            switch advert.operation.next(at: queue.now) {
            case .begin(let goal): begin(advert, goal)
            case .end: end(advert) { advert.operation.ended() }
            case nil: break
            }
        }
        adverts.removeAll { $0.operation.wanted == nil && $0.operation.isIdle }
    }

    private func begin(_ advert: Advert, _ goal: Goal) {
        do throws(BusError) {
            advert.object = try BusObject(on: bus, at: advert.path, [interface(advert, goal)])
            advert.call = try bus.call(BlueZ.service, path, BlueZ.advertisingManager, "RegisterAdvertisement") {
                message throws(BusError) in
                try message.append(path: advert.path)
                try message.appendArray(of: "{sv}") { () throws(BusError) in }
            } answer: { [weak self, weak advert] answer in
                guard let self, let advert else { return }
                switch answer {
                case .success:
                    advert.operation.began(goal, at: queue.now)
                    queue.forget(.commandFailed)
                    if advert.operation.wanted != nil { succeeded(advert) }
                case .failure(let error): failed(advert, error)
                }
            }
        } catch {
            failed(advert, error)
        }
    }

    private func succeeded(_ advert: Advert) {
        explain(goal.count)
        guard advert.isWaiting || advert.hasFailed else { return }
        advert.isWaiting = false
        advert.hasFailed = false
        queue.events.append(.advertising(advert.contents, .success(())))
    }

    private func failed(_ advert: Advert, _ error: BusError) {
        advert.object = nil
        advert.operation.failed(at: queue.now)
        queue.refused("RegisterAdvertisement", error)
        guard advert.operation.wanted != nil, !advert.hasFailed else { return }
        advert.isWaiting = false
        advert.hasFailed = true
        queue.events.append(.advertising(advert.contents, .failure(Self.error(error))))
    }

    private func end(_ advert: Advert, _ done: @escaping () -> Void) {
        // The object stays until bluetoothd has answered, even with an error.
        let call = try? bus.call(BlueZ.service, path, BlueZ.advertisingManager, "UnregisterAdvertisement") {
            message throws(BusError) in
            try message.append(path: advert.path)
        } answer: { [weak advert] _ in
            advert?.object = nil
            done()
        }
        advert.call = call
        guard call == nil else { return }
        advert.object = nil
        done()
    }

    private func released(_ advert: Advert) {
        // bluetoothd also calls this when we end them ourselves.
        guard advert.operation.lost(at: queue.now, isKnown: true) else { return }
        queue.reportOnce(.commandFailed, "bluetoothd released the advert; it is registered again.")
    }

    /// Reports how the adverts differ from the requested ones. Observed on the air with bluetoothd 5.66 and Linux 6.1.
    private func explain(_ count: Int) {
        var message =
            "bluetoothd sends the flags 02 01 04, or none if the adapter also supports BR/EDR, instead of 02 01 06: it "
            + "lets no advert that is not connectable claim to be discoverable."
        if !keepsInterval {
            message +=
                " Without --experimental an older bluetoothd leaves the interval to the kernel: 100 to 150 ms, or 1.28 s "
                + "while the adapter is discoverable."
        }
        if goal.contains(where: { $0.frame != nil && !$0.services.isEmpty }) {
            message +=
                " A bluetoothd without ScanResponseServiceUUIDs, such as 5.66, omits the services of a beacon."
        }
        if count > 1 {
            message +=
                " If the controller cannot send several adverts by itself, they take turns of one second each, so that "
                + "each is silent for \(count - 1) s in between."
        }
        queue.reportOnce(.degraded, message)
    }

    /// Returns the advert's properties (org.bluez.LEAdvertisement(5)).
    private func interface(_ advert: Advert, _ goal: Goal) -> BusInterface {
        let contents = goal.contents
        var interface = BusInterface(
            name: BlueZ.advertisement,
            properties: [
                // Non-connectable. bluetoothd sends no flags with it: it refuses Discoverable and raw flags for this
                // type.
                BusProperty(name: "Type", type: "s") { message throws(BusError) in try message.append("broadcast") },
                // Milliseconds: the interval that Apple requires of beacons.
                BusProperty(name: "MinInterval", type: "u") { message throws(BusError) in
                    try message.append(UInt32(100))
                },
                BusProperty(name: "MaxInterval", type: "u") { message throws(BusError) in
                    try message.append(UInt32(100))
                },
            ],
            methods: [
                "Release": { [weak self, weak advert] _, _ throws(BusError) in
                    if let self, let advert { released(advert) }
                }
            ])
        if let frame = contents.frame {
            // ManufacturerData begins after flags, length, AD type and company.
            let data = Array(frame.advert[7...])
            interface.properties.append(
                BusProperty(name: "ManufacturerData", type: "a{qv}") { message throws(BusError) in
                    try message.appendArray(of: "{qv}") { () throws(BusError) in
                        try message.appendEntry("qv") { () throws(BusError) in
                            try message.append(UInt16(0x004C))
                            try message.appendVariant("ay") { () throws(BusError) in try message.append(data) }
                        }
                    }
                })
        }
        // bluetoothd puts the name into the scan response, and services into the advert.
        if let name = contents.localName {
            interface.properties.append(
                BusProperty(name: "LocalName", type: "s") { message throws(BusError) in try message.append(name) })
        }
        if !contents.services.isEmpty {
            interface.properties.append(
                BusProperty(name: contents.frame == nil ? "ServiceUUIDs" : "ScanResponseServiceUUIDs", type: "as") {
                    message throws(BusError) in
                    try message.appendArray(of: "s") { () throws(BusError) in
                        for service in contents.services { try message.append("\(service)") }
                    }
                })
        }
        if !goal.isAlone {
            // Seconds: the shortest possible turn. The kernel's default is two.
            interface.properties.append(
                BusProperty(name: "Duration", type: "q") { message throws(BusError) in try message.append(UInt16(1)) })
        }
        return interface
    }

    private static func error(_ error: BusError) -> RadioError {
        if error.isDenial {
            return RadioError(
                .notPermitted, "bluetoothd does not let this user advertise: \(error). \(BlueZ.accessRemedy)")
        }
        // bluetoothd's error for "no instance left".
        if error.name == "org.bluez.Error.NotPermitted" {
            return RadioError(
                .unsupported,
                "the adapter has no room for one more advert: \(error). "
                    + "End other programs that advertise, or send fewer.")
        }
        return RadioError(.failed, "bluetoothd did not begin to advertise: \(error)")
    }
}
