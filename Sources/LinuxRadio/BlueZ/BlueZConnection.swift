import BeaconModel
import BeaconRadio

/// A connection to the bus with the state of bluetoothd on it: its name, and the adapter.
final class BlueZConnection {
    private let bus: SystemBus
    private let name: AdapterName
    private let queue: BlueZEventQueue
    private let desired: DesiredState
    private var slots: [BusSlot] = []
    private var listing: BusSlot?
    private var listingAgain = Timestamp.latest
    private var denial: BusError?

    /// bluetoothd's unique name on the bus, while it runs.
    private var owner: String?

    /// True if the adapters have been listed since ``owner`` changed.
    private var isListed = false

    /// True if the adapters have ever been listed.
    private var wasListed = false

    /// The session of the adapter, while the adapter exists.
    private var session: BlueZAdapterSession?

    /// The number of messages processed at a time, so that other adapters get their turn.
    private static let messageLimit = 512

    init(
        _ name: AdapterName, at address: String?, _ queue: BlueZEventQueue, _ desired: DesiredState
    ) throws(RadioError) {
        self.name = name
        self.queue = queue
        self.desired = desired
        bus = try SystemBus(address: address)
        do throws(BusError) {
            try listen()
            try list()
        } catch {
            throw SystemBus.refusal(error)
        }
    }

    /// The descriptor to wait for.
    var descriptor: Int32 { bus.descriptor }

    /// The poll events to wait for on the descriptor.
    var interest: Int16 { bus.interest }

    /// The latest time for the next call of ``process()``.
    func deadline(at now: Timestamp) -> Timestamp {
        min(bus.deadline(at: now), listingAgain, session?.deadline ?? .latest)
    }

    /// The state of the radio.
    var state: RadioState {
        if denial != nil { return .unauthorized }
        if let session { return session.state }
        // A lost adapter counts as off, as for raw HCI: it may return.
        if owner != nil, isListed { return .poweredOff }
        return wasListed || listing == nil ? .resetting : .unknown
    }

    /// Performs the operations that are due.
    ///
    /// - Throws: an error that ends the connection.
    func process() throws(BusError) {
        var left = Self.messageLimit
        while left > 0, try bus.process() { left -= 1 }
        if queue.now >= listingAgain { try list() }
        session?.advance()
    }

    /// Brings bluetoothd's operations to the desired state.
    func apply() { session?.apply() }

    /// Reports the outcome for each frame again, since the client repeated its request.
    func reportAdvertising() { session?.reportAdvertising() }

    /// Restarts the watchdog's silence, since the machine slept.
    func wokeUp() { session?.wokeUp() }

    /// Ends everything that bluetoothd does for us; waits until `deadline` at most.
    func close(until deadline: Timestamp) {
        do throws(BusError) {
            while let session, RadioClock.now() < deadline {
                queue.now = RadioClock.now()
                try process()
                if session.isIdle { break }
                try bus.wait(until: deadline)
            }
            try bus.flush()
        } catch {
            // bluetoothd ends everything by itself when the connection closes.
        }
    }

    private func listen() throws(BusError) {
        slots.append(
            try bus.listen(
                "type='signal',sender='org.freedesktop.DBus',interface='org.freedesktop.DBus',"
                    + "member='NameOwnerChanged',arg0='\(BlueZ.service)'"
            ) { [weak self] in self?.ownerChanged($0) })
        // One rule for each possible adapter: a single rule for all of them would match all devices as well. The kernel
        // counts from 0; on a machine with more than 16 adapters, name one by its number.
        var indices = Array(UInt16(0)..<16)
        if case .index(let index) = name { indices = [index] }
        for index in indices {
            slots.append(
                try bus.listen(
                    "type='signal',sender='\(BlueZ.service)',interface='\(BlueZ.objectManager)',"
                        + "arg0path='/org/bluez/hci\(index)'"
                ) { [weak self] in self?.interfacesChanged($0) })
        }
    }

    private func isFromDaemon(_ message: BusMessage) -> Bool { message.sender == owner }

    private func list() throws(BusError) {
        listingAgain = .latest
        isListed = false
        // The bus starts bluetoothd if the system has an activation file for it.
        listing = try bus.call(BlueZ.service, "/", BlueZ.objectManager, "GetManagedObjects") { [weak self] answer in
            guard let self else { return }
            listing = nil
            do throws(BusError) {
                let message = try answer.get()
                let adapters = try BlueZAdapter.adapters(in: message)
                owner = message.sender
                denial = nil
                isListed = true
                wasListed = true
                if let adapter = adapters.first(where: { $0.isNamed(name) }) {
                    begin(adapter)
                } else {
                    queue.report(.adapterLost, "bluetoothd has no adapter \(name). It is used once it appears.")
                }
            } catch {
                unlisted(error)
            }
        }
    }

    private func unlisted(_ error: BusError) {
        if error.isDenial { denial = error }
        if error.isAbsence {
            // NameOwnerChanged reports its start.
            queue.reportOnce(
                .adapterLost, "bluetoothd is not running. Start it: systemctl start bluetooth")
        } else {
            queue.refused("to list its adapters", error)
            listingAgain = queue.now.advanced(by: 10 * Timestamp.nanosecondsPerSecond)
        }
    }

    private func begin(_ adapter: BlueZAdapter) {
        do throws(BusError) {
            session = try BlueZAdapterSession(on: bus, adapter, queue, desired) { [weak self] in
                self?.isFromDaemon($0) ?? false
            }
        } catch {
            queue.refused("the adapter", error)
            listingAgain = queue.now.advanced(by: 10 * Timestamp.nanosecondsPerSecond)
        }
    }

    private func end(_ message: String) {
        // bluetoothd and adapters switch off as they end; this is no user's request then.
        if let session, queue.now.since(session.wentOff) < 10 * Timestamp.nanosecondsPerSecond {
            desired.mayPowerOn = true
        }
        session = nil
        queue.report(.adapterLost, message)
    }

    private func ownerChanged(_ signal: BusMessage) {
        guard signal.sender == "org.freedesktop.DBus" else { return }
        do throws(BusError) {
            guard try signal.readString() == BlueZ.service else { return }
            _ = try signal.readString()
            let new = try signal.readString()
            // A listing of the same daemon stays valid.
            guard new != owner else { return }
            if owner != nil { end("bluetoothd ended. Scans and adverts are registered again once it returns.") }
            owner = new.isEmpty ? nil : new
            listing = nil
            listingAgain = .latest
            if !new.isEmpty { try list() }
        } catch {
            queue.refused("to list its adapters", error)
            listingAgain = queue.now.advanced(by: 10 * Timestamp.nanosecondsPerSecond)
        }
    }

    private func interfacesChanged(_ signal: BusMessage) {
        // Signals before the listing's answer are ignored: the answer is newer and complete.
        guard isListed, isFromDaemon(signal) else { return }
        try? read(interfaceChange: signal)
    }

    private func read(interfaceChange signal: BusMessage) throws(BusError) {
        let path = try signal.readPath()
        switch signal.member {
        case "InterfacesAdded":
            if let session, session.adapter.path == path { return try session.add(interfacesIn: signal) }
            guard session == nil else { return }
            var adapter = BlueZAdapter(path: path)
            if try adapter.add(interfacesIn: signal), adapter.isNamed(name) { begin(adapter) }
        case "InterfacesRemoved":
            guard let session, session.adapter.path == path else { return }
            var isRemoved = false
            try signal.readArray(of: "s") { () throws(BusError) in
                if try signal.readString() == BlueZ.adapter { isRemoved = true }
            }
            if isRemoved { end("the adapter was removed. It is used again once it returns.") }
        default: break
        }
    }
}
