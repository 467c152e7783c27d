import BeaconModel
import BeaconRadio

/// bluetoothd's search for devices, active for as long as it is wanted.
final class BlueZDiscovery {
    private let bus: SystemBus
    private let path: String
    private let queue: BlueZEventQueue
    private var operation = RetryingOperation<Bool>()
    private var call: BusSlot?

    init(on bus: SystemBus, _ path: String, _ queue: BlueZEventQueue) {
        self.bus = bus
        self.path = path
        self.queue = queue
    }

    /// True if a search is wanted.
    var isWanted: Bool {
        get { operation.wanted != nil }
        set { operation.wanted = newValue ? true : nil }
    }

    /// True if bluetoothd searches for us.
    var isActive: Bool { operation.current != nil }

    /// The latest time for the next call of ``advance()``.
    var deadline: Timestamp { operation.deadline }

    /// True if bluetoothd does nothing for us and no operation is pending.
    var isIdle: Bool { operation.isIdle }

    /// Performs the operations that are due.
    func advance() {
        do throws(BusError) {
            switch operation.next(at: queue.now) {
            case .begin: try begin()
            case .end: try stop { [self] in operation.ended() }
            case nil: break
            }
        } catch {
            refused(error)
        }
    }

    /// Ends the search and begins it again.
    func renew() { operation.renew() }

    /// Notes that bluetoothd ended the search.
    func wasEnded() {
        operation.lost(at: queue.now, isKnown: false)
    }

    private func begin() throws(BusError) {
        // Le: no inquiry is needed. DuplicateData: bluetoothd reports every advert, not only changed ones
        // (org.bluez.Adapter(5)).
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
                    operation.began(true, at: queue.now)
                    queue.forget(.commandFailed)
                case .failure(let error): self?.refused(error)
                }
            }
        } catch {
            refused(error)
        }
    }

    private func stop(_ done: @escaping () -> Void) throws(BusError) {
        // The answer does not matter: a search that bluetoothd does not know has ended, too.
        call = try bus.call(BlueZ.service, path, BlueZ.adapter, "StopDiscovery") { _ in done() }
    }

    private func refused(_ error: BusError) {
        operation.failed(at: queue.now)
        queue.refused("StartDiscovery", error)
        // A search of ours whose answer was lost blocks the next one.
        if error.name == "org.bluez.Error.InProgress" { try? stop {} }
    }
}
