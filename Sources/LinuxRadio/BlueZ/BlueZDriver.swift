import BeaconModel
import BeaconRadio
import Glibc

/// An adapter by way of bluetoothd.
///
/// bluetoothd may be restarted, the adapter may go and come, the bus itself may go: the driver stays, and registers
/// everything anew.
final class BlueZDriver: AdapterDriver {
    private let reports: BlueZReports
    private let wishes = BlueZWishes()
    private let adapter: AdapterName
    private let address: String?
    private var session: BlueZSession?
    private var lost = RadioState.unknown
    private var again = Timestamp.zero
    private var pause = Timestamp.nanosecondsPerSecond

    /// The longest wait before the bus is tried again.
    private static let longestPause = 32 * Timestamp.nanosecondsPerSecond

    /// How long closing waits for bluetoothd's answers.
    private static let closingTime = 2 * Timestamp.nanosecondsPerSecond

    /// A driver for an adapter that may come and go.
    ///
    /// - Parameters:
    ///   - adapter: the adapter as people know it, as `hci0`.
    ///   - name: by what to find it.
    ///   - address: where the bus is; nil for the system's.
    init(_ adapter: String, named name: AdapterName, at address: String? = nil) {
        reports = BlueZReports(adapter: adapter)
        self.adapter = name
        self.address = address
    }

    /// Drivers for these adapters; for none named, for the first that is switched on, else for the first.
    ///
    /// - Throws: what is missing, and the command that mends it.
    static func open(_ names: [AdapterName], at address: String? = nil) throws(RadioError) -> [BlueZDriver] {
        let adapters = try BlueZSurvey.take(at: address).usableAdapters()
        guard !names.isEmpty else {
            guard let adapter = adapters.first(where: \.isPowered) ?? adapters.first else {
                throw RadioError(
                    .unsupported,
                    "bluetoothd has no adapter. Plug one in; dmesg and rfkill list say what became of one that is there."
                )
            }
            // By its address, so that it is found again where it comes back under another number.
            return [BlueZDriver(adapter.name, named: .address(adapter.address), at: address)]
        }
        var drivers: [BlueZDriver] = []
        for name in names {
            guard let adapter = adapters.first(where: { $0.isNamed(name) }) else {
                let there = adapters.map { "\($0.name) (\($0.address))" }.joined(separator: ", ")
                throw RadioError(
                    .unsupported,
                    "bluetoothd has no adapter \(name)"
                        + (there.isEmpty ? ", nor any other. Plug one in." : ". There is \(there)."))
            }
            drivers.append(BlueZDriver(adapter.name, named: name, at: address))
        }
        return drivers
    }

    var name: String { reports.adapter }

    var descriptor: Int32 { session?.descriptor ?? -1 }

    var interest: Int16 { session?.interest ?? 0 }

    var deadline: Timestamp {
        guard let session else { return again }
        return session.deadline(at: RadioClock.now())
    }

    var state: RadioState { session?.state ?? lost }

    func process(
        at now: Timestamp, as receiver: ReceiverID, deliver: (Reception, RawSpan) throws -> Void,
        tell: (RadioEvent) -> Void
    ) throws {
        reports.now = now
        if session == nil, now >= again { connect() }
        do throws(BusError) {
            try session?.process()
        } catch {
            disconnect(error)
        }
        for event in reports.events { tell(event) }
        reports.events.removeAll(keepingCapacity: true)
        guard !reports.heard.isEmpty else { return }
        defer { reports.heard.removeAll(keepingCapacity: true) }
        for heard in reports.heard {
            let reception = Reception(
                time: heard.time, receiver: receiver,
                // bluetoothd does not tell the kind. An iBeacon is not connectable.
                report: AdvertisingReport(kind: .nonConnectable, address: heard.address, rssi: heard.rssi))
            try deliver(reception, heard.advert.span.bytes)
        }
    }

    func scan(_ mode: ScanMode) {
        wishes.mode = mode
        session?.apply()
    }

    func advertise(_ frames: [IBeaconFrame]) {
        wishes.frames = frames
        session?.apply()
    }

    func close() {
        wishes.mode = .off
        wishes.frames = []
        wishes.mayPowerOn = false
        session?.apply()
        session?.close(until: RadioClock.now().advanced(by: Self.closingTime))
        session = nil
        again = .latest
    }

    private func connect() {
        do throws(RadioError) {
            session = try BlueZSession(adapter, at: address, reports, wishes)
            reports.forget(.adapterLost)
        } catch {
            reports.tellOnce(.adapterLost, error.message)
            wait(error.code == .notPermitted ? .unauthorized : .resetting)
        }
    }

    private func disconnect(_ error: BusError) {
        reports.tell(.adapterLost, "the connection to the bus is lost: \(error). It is tried again.")
        session = nil
        wait(error.isDenial ? .unauthorized : .resetting)
    }

    private func wait(_ state: RadioState) {
        lost = state
        again = reports.now.advanced(by: pause)
        pause = min(pause * 2, Self.longestPause)
    }
}
