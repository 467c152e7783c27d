import BeaconModel
import BeaconRadio

/// Adverts that bluetoothd sends for us, one for each frame. bluetoothd takes them back by itself when our connection ends,
/// however it ends.
final class BlueZAdverts {
    private let bus: SystemBus
    private let path: String
    private let root: String
    private let reports: BlueZReports
    private var undertaking = Undertaking<[IBeaconFrame]>()
    private var objects: [BusObject] = []
    private var calls: [BusSlot] = []
    private var open = 0
    private var failure: BusError?
    private var toldFailure: RadioError?

    /// Whether bluetoothd sends at the interval that is asked for. Up to version 5.66 it does with --experimental only.
    var keepsInterval = true

    init(on bus: SystemBus, _ path: String, _ reports: BlueZReports) {
        self.bus = bus
        self.path = path
        self.reports = reports
        root = "/swift_beacon/\(reports.adapter)/adverts"
    }

    /// What to send.
    var frames: [IBeaconFrame] {
        get { undertaking.wanted ?? [] }
        set {
            guard newValue != frames else { return }
            toldFailure = nil
            undertaking.wanted = newValue.isEmpty ? nil : newValue
        }
    }

    /// When ``advance()`` should be called at the latest.
    var deadline: Timestamp { undertaking.deadline }

    /// Whether bluetoothd does nothing for us and nothing is under way.
    var isIdle: Bool { undertaking.isIdle }

    /// Does what is due.
    func advance() {
        switch undertaking.next(at: reports.now) {
        case .begin(let frames): begin(frames)
        case .end: takeBack { [weak self] in self?.undertaking.ended() }
        case nil: break
        }
    }

    /// Takes the adverts back and sends them anew.
    func renew() { undertaking.renew() }

    private func begin(_ frames: [IBeaconFrame]) {
        failure = nil
        open = frames.count
        calls = []
        do throws(BusError) {
            objects = try frames.enumerated().map { index, frame throws(BusError) in
                try BusObject(on: bus, at: "\(root)/\(index)", [interface(frame, isAlone: frames.count == 1)])
            }
            for object in objects {
                calls.append(
                    try bus.call(BlueZ.service, path, BlueZ.advertisingManager, "RegisterAdvertisement") {
                        message throws(BusError) in
                        try message.append(path: object.path)
                        try message.appendArray(of: "{sv}") { () throws(BusError) in }
                    } answer: { [weak self] in
                        self?.answered($0, frames)
                    })
            }
        } catch {
            failure = error
            open = 0
            finish(frames)
        }
    }

    private func answered(_ answer: Result<BusMessage, BusError>, _ frames: [IBeaconFrame]) {
        if case .failure(let error) = answer { failure = error }
        open -= 1
        if open == 0 { finish(frames) }
    }

    private func finish(_ frames: [IBeaconFrame]) {
        guard let failure else {
            undertaking.began(frames, at: reports.now)
            reports.forget(.commandFailed)
            toldFailure = nil
            reports.events.append(.advertising(.success(())))
            explain(frames.count)
            return
        }
        // All or none: what did register comes back off the air.
        takeBack { [weak self] in
            guard let self else { return }
            undertaking.failed(at: reports.now)
            reports.refused("RegisterAdvertisement", failure)
            let error = Self.error(failure, frames.count)
            guard error != toldFailure else { return }
            toldFailure = error
            reports.events.append(.advertising(.failure(error)))
        }
    }

    /// Says in what the adverts differ from those that were asked for: heard on the air from bluetoothd 5.66 and Linux 6.1.
    private func explain(_ count: Int) {
        var message =
            "bluetoothd sends the flags 02 01 04, or none where the adapter can also do BR/EDR, in place of 02 01 06: it "
            + "lets no advert claim to be discoverable that nobody can connect to."
        if !keepsInterval {
            message +=
                " Without --experimental an older bluetoothd leaves the interval to the kernel: 100 to 150 ms, or 1.28 s "
                + "while the adapter is discoverable."
        }
        if count > 1 {
            message +=
                " Where the controller cannot send several adverts by itself they take turns of a second each, so that "
                + "each is silent for \(count - 1) s in between."
        }
        reports.tellOnce(.degraded, message)
    }

    private func takeBack(_ done: @escaping () -> Void) {
        var left = objects.count
        let taken = objects
        objects = []
        calls = []
        guard left > 0 else { return done() }
        for object in taken {
            // The objects stay until bluetoothd has answered, whatever it says.
            let call = try? bus.call(BlueZ.service, path, BlueZ.advertisingManager, "UnregisterAdvertisement") {
                message throws(BusError) in
                try message.append(path: object.path)
            } answer: { _ in
                withExtendedLifetime(taken) { left -= 1 }
                if left == 0 { done() }
            }
            if let call { calls.append(call) } else { left -= 1 }
        }
        if calls.isEmpty { done() }
    }

    private func released() {
        // It also comes when we end them ourselves.
        guard undertaking.lost(at: reports.now, isKnown: true) else { return }
        reports.tellOnce(.commandFailed, "bluetoothd took the advert off the air; it is sent anew.")
    }

    /// The advert's properties (org.bluez.LEAdvertisement(5)).
    private func interface(_ frame: IBeaconFrame, isAlone: Bool) -> BusInterface {
        // Behind flags, length, AD type and company: what ManufacturerData holds.
        let data = Array(frame.advert[7...])
        var interface = BusInterface(
            name: BlueZ.advertisement,
            properties: [
                // Non-connectable. bluetoothd sends no flags with it: it refuses Discoverable and raw flags for this type.
                BusProperty(name: "Type", type: "s") { message throws(BusError) in try message.append("broadcast") },
                BusProperty(name: "ManufacturerData", type: "a{qv}") { message throws(BusError) in
                    try message.appendArray(of: "{qv}") { () throws(BusError) in
                        try message.appendEntry("qv") { () throws(BusError) in
                            try message.append(UInt16(0x004C))
                            try message.appendVariant("ay") { () throws(BusError) in try message.append(data) }
                        }
                    }
                },
                // Milliseconds: the interval that Apple asks of beacons.
                BusProperty(name: "MinInterval", type: "u") { message throws(BusError) in
                    try message.append(UInt32(100))
                },
                BusProperty(name: "MaxInterval", type: "u") { message throws(BusError) in
                    try message.append(UInt32(100))
                },
            ],
            methods: ["Release": { [weak self] _, _ throws(BusError) in self?.released() }])
        if !isAlone {
            // Seconds: the shortest turn there is. The kernel's own is two.
            interface.properties.append(
                BusProperty(name: "Duration", type: "q") { message throws(BusError) in try message.append(UInt16(1)) })
        }
        return interface
    }

    private static func error(_ error: BusError, _ count: Int) -> RadioError {
        if error.isDenial {
            return RadioError(
                .notPermitted, "bluetoothd does not let this user advertise: \(error). \(BlueZ.accessRemedy)")
        }
        // bluetoothd's word for "no instance left".
        if error.name == "org.bluez.Error.NotPermitted" {
            return RadioError(
                .unsupported,
                "the adapter has no room for \(count == 1 ? "one more advert" : "\(count) more adverts"): \(error). "
                    + "End other programs that advertise, or send fewer.")
        }
        return RadioError(.failed, "bluetoothd did not begin to advertise: \(error)")
    }
}
