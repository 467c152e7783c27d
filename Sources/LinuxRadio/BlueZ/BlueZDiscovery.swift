import BeaconModel
import BeaconRadio

/// bluetoothd's search for devices, held for as long as it is wanted.
final class BlueZDiscovery {
    private let bus: SystemBus
    private let path: String
    private let reports: BlueZReports
    private var undertaking = Undertaking<Bool>()
    private var call: BusSlot?

    init(on bus: SystemBus, _ path: String, _ reports: BlueZReports) {
        self.bus = bus
        self.path = path
        self.reports = reports
    }

    /// Whether to search.
    var isWanted: Bool {
        get { undertaking.wanted != nil }
        set { undertaking.wanted = newValue ? true : nil }
    }

    /// Whether bluetoothd searches for us.
    var isActive: Bool { undertaking.current != nil }

    /// When ``advance()`` should be called at the latest.
    var deadline: Timestamp { undertaking.deadline }

    /// Whether bluetoothd does nothing for us and nothing is under way.
    var isIdle: Bool { undertaking.isIdle }

    /// Does what is due.
    func advance() {
        do throws(BusError) {
            switch undertaking.next(at: reports.now) {
            case .begin: try begin()
            case .end: try stop { [self] in undertaking.ended() }
            case nil: break
            }
        } catch {
            refused(error)
        }
    }

    /// Ends the search and begins it anew.
    func renew() { undertaking.renew() }

    /// bluetoothd ended the search.
    func wasEnded() {
        undertaking.lost(at: reports.now, isKnown: false)
    }

    private func begin() throws(BusError) {
        // Le: nobody waits for inquiry. DuplicateData: each advert is told, not only a changed one (org.bluez.Adapter(5)).
        call = try bus.call(BlueZ.service, path, BlueZ.adapter, "SetDiscoveryFilter") { message throws(BusError) in
            try message.appendArray(of: "{sv}") { () throws(BusError) in
                try message.appendEntry("sv") { () throws(BusError) in
                    try message.append("Transport")
                    try message.appendVariant("s") { () throws(BusError) in try message.append("le") }
                }
                try message.appendEntry("sv") { () throws(BusError) in
                    try message.append("DuplicateData")
                    try message.appendVariant("b") { () throws(BusError) in try message.append(true) }
                }
            }
        } answer: { [weak self] in
            switch $0 {
            case .success: self?.start()
            case .failure(let error): self?.refused(error)
            }
        }
    }

    private func start() {
        do throws(BusError) {
            call = try bus.call(BlueZ.service, path, BlueZ.adapter, "StartDiscovery") { [weak self] in
                switch $0 {
                case .success:
                    guard let self else { return }
                    undertaking.began(true, at: reports.now)
                    reports.forget(.commandFailed)
                case .failure(let error): self?.refused(error)
                }
            }
        } catch {
            refused(error)
        }
    }

    private func stop(_ done: @escaping () -> Void) throws(BusError) {
        // What comes of it does not matter: a search that bluetoothd does not know of is over too.
        call = try bus.call(BlueZ.service, path, BlueZ.adapter, "StopDiscovery") { _ in done() }
    }

    private func refused(_ error: BusError) {
        undertaking.failed(at: reports.now)
        reports.refused("StartDiscovery", error)
        // A search of ours that we do not know of, because its answer was lost, is in the way of the next.
        if error.name == "org.bluez.Error.InProgress" { try? stop {} }
    }
}
