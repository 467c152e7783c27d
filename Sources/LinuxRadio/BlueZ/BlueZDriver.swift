import BeaconModel
import BeaconRadio
import BeaconSupport
import CLibrary

/// The goals of a driver, which outlive connections, daemons and adapters.
final class DesiredState {
    /// The scan mode.
    var mode = ScanMode.off

    /// True if there are tags, whose adverts are no iBeacons.
    var hasTags = false

    /// The adverts to send.
    var adverts: [OutgoingAdvert] = []

    /// True if the driver may switch the adapter on. An adapter that is switched off while in use stays off.
    var mayPowerOn = true
}

/// A driver for an adapter by way of bluetoothd.
///
/// bluetoothd may restart, the adapter may be unplugged and plugged in, and the bus may disconnect. The driver survives
/// all of this and registers everything again.
final class BlueZDriver: ReceiverDriver, Advertiser {
    private let queue: BlueZEventQueue
    private let desired = DesiredState()
    private let adapter: AdapterName
    private let address: String?
    private var connection: BlueZConnection?
    private var lost = RadioState.unknown
    private var again = Timestamp.zero
    private var connectedAt = Timestamp.zero
    private var backoff = Backoff(first: .seconds(1), longest: .nanoseconds(longestPause))
    private var isRefusalDue = false

    /// The longest wait before the bus is tried again. A connection that lasted longer resets the backoff.
    private static let longestPause = 32 * Timestamp.nanosecondsPerSecond

    /// How long closing waits for bluetoothd's answers.
    private static let closingTime = 2 * Timestamp.nanosecondsPerSecond

    /// Creates a driver for an adapter that may appear and disappear.
    ///
    /// - Parameters:
    ///   - adapter: the adapter's name, such as `hci0`.
    ///   - name: the name that identifies the adapter.
    ///   - address: the address of the bus; nil for the system's.
    init(_ adapter: String, named name: AdapterName, at address: String? = nil) {
        queue = BlueZEventQueue(adapter: adapter)
        self.adapter = name
        self.address = address
    }

    /// Returns drivers for these adapters. Without names: for the first that is switched on, or the first.
    ///
    /// - Throws: an error with the missing part and the command that fixes it.
    static func open(_ names: [AdapterName], at address: String? = nil) throws(RadioError) -> [BlueZDriver] {
        let adapters = try BlueZSurvey.make(at: address).usableAdapters()
        guard !names.isEmpty else {
            guard let adapter = adapters.first(where: \.isPowered) ?? adapters.first else {
                throw RadioError(
                    .unsupported,
                    "bluetoothd has no adapter. Plug one in; if one is plugged in, check dmesg and rfkill list."
                )
            }
            // By address, so that the adapter is found again if it returns under another number.
            return [BlueZDriver(adapter.name, named: .address(adapter.address), at: address)]
        }
        var drivers: [BlueZDriver] = []
        for name in names {
            guard let adapter = adapters.first(where: { $0.isNamed(name) }) else {
                let there = adapters.map { "\($0.name) (\($0.address))" }.joined(separator: ", ")
                throw RadioError(
                    .unsupported,
                    "bluetoothd has no adapter \(name)"
                        + (there.isEmpty ? " and no other adapter. Plug one in." : ". It has \(there)."))
            }
            drivers.append(BlueZDriver(adapter.name, named: name, at: address))
        }
        return drivers
    }

    var name: String { queue.adapter }

    func forEachPoll(_ body: (_ descriptor: Int32, _ events: Int16) -> Void) {
        if let connection, connection.descriptor >= 0 { body(connection.descriptor, connection.interest) }
    }

    var deadline: Timestamp {
        guard let connection else { return again }
        return connection.deadline(at: RadioClock.now())
    }

    var state: RadioState { connection?.state ?? lost }

    func process(at now: Timestamp, into batch: inout AdvertBatch) {
        queue.now = now
        if desired.hasTags != batch.hasTags {
            desired.hasTags = batch.hasTags
            connection?.apply()
        }
        if connection == nil, now >= again { connect() }
        do throws(BusError) {
            try connection?.process()
        } catch {
            disconnect(error)
        }
        refuse()
        for event in queue.events { batch.report(event) }
        queue.events.removeAll(keepingCapacity: true)
        guard !queue.heard.isEmpty else { return }
        defer { queue.heard.removeAll(keepingCapacity: true) }
        for heard in queue.heard {
            let reception = Reception(
                time: heard.time, receiver: batch.firstReceiver,
                report: AdvertisingReport(kind: heard.kind, address: heard.address, rssi: heard.rssi))
            batch.hear(reception, heard.advert.span.bytes)
        }
    }

    func scan(_ mode: ScanMode) {
        desired.mode = mode
        connection?.apply()
    }

    func advertise(_ adverts: [OutgoingAdvert]) {
        desired.adverts = adverts
        isRefusalDue = true
        connection?.apply()
        connection?.reportAdvertising()
    }

    func wokeUp(at now: Timestamp) {
        queue.now = now
        connection?.wokeUp()
    }

    func close() {
        desired.mode = .off
        desired.adverts = []
        desired.mayPowerOn = false
        connection?.apply()
        connection?.close(until: RadioClock.now().advanced(by: Self.closingTime))
        connection = nil
        again = .latest
    }

    private func connect() {
        do throws(RadioError) {
            connection = try BlueZConnection(adapter, at: address, queue, desired)
            connectedAt = queue.now
            queue.forget(.adapterLost)
        } catch {
            queue.reportOnce(.adapterLost, error.message)
            wait(error.code == .notPermitted ? .unauthorized : .resetting)
        }
    }

    private func disconnect(_ error: BusError) {
        queue.report(.adapterLost, "the connection to the bus is lost: \(error). The driver reconnects.")
        connection = nil
        if queue.now.since(connectedAt) > Self.longestPause { backoff.reset() }
        wait(error.isDenial ? .unauthorized : .resetting)
    }

    private func wait(_ state: RadioState) {
        lost = state
        again = queue.now.advanced(by: backoff.next().clampedNanoseconds)
    }

    /// Reports a failure once for each request that this process has no permission to fulfill.
    private func refuse() {
        guard isRefusalDue, state == .unauthorized || state == .poweredOn else { return }
        isRefusalDue = false
        guard state == .unauthorized else { return }
        let error = RadioError(
            .notPermitted, "this process may not use bluetoothd, so it cannot advertise. \(BlueZ.accessRemedy)")
        queue.events += desired.adverts.map { .advertising($0, .failure(error)) }
    }
}
