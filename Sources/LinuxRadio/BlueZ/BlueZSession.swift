import BeaconModel
import BeaconRadio

/// A connection to the bus with what is known of bluetoothd there: who it is, and whether it has the adapter.
final class BlueZSession {
    private let bus: SystemBus
    private let name: AdapterName
    private let reports: BlueZReports
    private let wishes: BlueZWishes
    private var slots: [BusSlot] = []
    private var listing: BusSlot?
    private var listingAgain = Timestamp.latest
    private var denial: BusError?

    /// bluetoothd's unique name on the bus while it is there.
    private var owner: String?

    /// Whether the adapters have been listed since.
    private var isListed = false

    /// Whether they have been listed ever.
    private var wasListed = false

    /// The use of the adapter while it is there.
    private var use: BlueZUse?

    /// How many messages are taken in at a time, so that other adapters get their turn.
    private static let messageLimit = 512

    init(
        _ name: AdapterName, at address: String?, _ reports: BlueZReports, _ wishes: BlueZWishes
    ) throws(RadioError) {
        self.name = name
        self.reports = reports
        self.wishes = wishes
        bus = try SystemBus(address: address)
        do throws(BusError) {
            try listen()
            try list()
        } catch {
            throw SystemBus.refusal(error)
        }
    }

    /// What to wait for.
    var descriptor: Int32 { bus.descriptor }

    /// What to wait for at the descriptor.
    var interest: Int16 { bus.interest }

    /// When ``process()`` should be called at the latest.
    func deadline(at now: Timestamp) -> Timestamp {
        min(bus.deadline(at: now), listingAgain, use?.deadline ?? .latest)
    }

    /// What the radio can do.
    var state: RadioState {
        if denial != nil { return .unauthorized }
        if let use { return use.state }
        // Gone is as good as off, as it is for raw HCI: it may come back.
        if owner != nil, isListed { return .poweredOff }
        return wasListed || listing == nil ? .resetting : .unknown
    }

    /// Does what is due.
    ///
    /// - Throws: why the connection is of no use any more.
    func process() throws(BusError) {
        var left = Self.messageLimit
        while left > 0, try bus.process() { left -= 1 }
        if reports.now >= listingAgain { try list() }
        use?.advance()
    }

    /// Lets bluetoothd do what is wished.
    func apply() { use?.apply() }

    /// Ends everything that bluetoothd does for us, and waits for that until `deadline`.
    func close(until deadline: Timestamp) {
        do throws(BusError) {
            while let use, RadioClock.now() < deadline {
                reports.now = RadioClock.now()
                try process()
                if use.isIdle { break }
                try bus.wait(until: deadline)
            }
            try bus.flush()
        } catch {
            // bluetoothd ends it all by itself when the connection goes.
        }
    }

    private func listen() throws(BusError) {
        slots.append(
            try bus.listen(
                "type='signal',sender='org.freedesktop.DBus',interface='org.freedesktop.DBus',"
                    + "member='NameOwnerChanged',arg0='\(BlueZ.service)'"
            ) { [weak self] in self?.ownerChanged($0) })
        // A rule for each adapter there may be: one for all of them would let all devices through as well. The kernel
        // numbers from 0; whoever has more than 16 adapters names one by its number.
        var indices = Array(UInt16(0)..<16)
        if case .index(let index) = name { indices = [index] }
        for index in indices {
            slots.append(
                try bus.listen(
                    "type='signal',sender='\(BlueZ.service)',interface='\(BlueZ.objectManager)',"
                        + "arg0path='/org/bluez/hci\(index)'"
                ) { [weak self] in self?.cameOrWent($0) })
        }
    }

    private func isFromDaemon(_ message: BusMessage) -> Bool { message.sender == owner }

    private func list() throws(BusError) {
        listingAgain = .latest
        isListed = false
        // The bus starts bluetoothd where the system knows how to.
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
                    reports.tell(.adapterLost, "bluetoothd has no adapter \(name). It is used when it comes.")
                }
            } catch {
                unlisted(error)
            }
        }
    }

    private func unlisted(_ error: BusError) {
        if error.isDenial { denial = error }
        if error.isAbsence {
            // NameOwnerChanged tells when it comes.
            reports.tellOnce(
                .adapterLost, "bluetoothd is not running. It is used when it comes: systemctl start bluetooth.")
        } else {
            reports.refused("to list its adapters", error)
            listingAgain = reports.now.advanced(by: 10 * Timestamp.nanosecondsPerSecond)
        }
    }

    private func begin(_ adapter: BlueZAdapter) {
        do throws(BusError) {
            use = try BlueZUse(on: bus, adapter, reports, wishes) { [weak self] in self?.isFromDaemon($0) ?? false }
        } catch {
            reports.refused("the adapter", error)
            listingAgain = reports.now.advanced(by: 10 * Timestamp.nanosecondsPerSecond)
        }
    }

    private func end(_ message: String) {
        // Going off is part of how bluetoothd and adapters go, and nobody's wish then.
        if let use, reports.now.since(use.wentOff) < 10 * Timestamp.nanosecondsPerSecond { wishes.mayPowerOn = true }
        use = nil
        reports.tell(.adapterLost, message)
    }

    private func ownerChanged(_ signal: BusMessage) {
        guard signal.sender == "org.freedesktop.DBus" else { return }
        do throws(BusError) {
            guard try signal.readString() == BlueZ.service else { return }
            _ = try signal.readString()
            let new = try signal.readString()
            // What a listing found out about this very daemon holds.
            guard new != owner else { return }
            if owner != nil { end("bluetoothd is gone. Everything is registered anew when it is back.") }
            owner = new.isEmpty ? nil : new
            listing = nil
            listingAgain = .latest
            if !new.isEmpty { try list() }
        } catch {
            reports.refused("to list its adapters", error)
            listingAgain = reports.now.advanced(by: 10 * Timestamp.nanosecondsPerSecond)
        }
    }

    private func cameOrWent(_ signal: BusMessage) {
        // Before the listing has come its answer, which is newer, tells all.
        guard isListed, isFromDaemon(signal) else { return }
        try? read(comingOrGoing: signal)
    }

    private func read(comingOrGoing signal: BusMessage) throws(BusError) {
        let path = try signal.readPath()
        switch signal.member {
        case "InterfacesAdded":
            if let use, use.adapter.path == path { return try use.add(interfacesIn: signal) }
            guard use == nil else { return }
            var adapter = BlueZAdapter(path: path)
            if try adapter.add(interfacesIn: signal), adapter.isNamed(name) { begin(adapter) }
        case "InterfacesRemoved":
            guard let use, use.adapter.path == path else { return }
            var isGone = false
            try signal.readArray(of: "s") { () throws(BusError) in
                if try signal.readString() == BlueZ.adapter { isGone = true }
            }
            if isGone { end("it was removed. It is used again when it is back.") }
        default: break
        }
    }
}
