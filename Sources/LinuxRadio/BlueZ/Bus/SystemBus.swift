import BeaconModel
import BeaconRadio
import CBluetooth
import CLibrary
import CSystemBus

/// A connection to the system's message bus.
///
/// Its owner waits for the descriptor and calls ``process()``, on one thread. Only ``wait(until:)`` and ``flush()``
/// block.
final class SystemBus {
    let functions: UnsafePointer<beacon_bus_functions>
    private let bus: OpaquePointer

    /// Begins to connect.
    ///
    /// - Parameter address: the address of the bus (D-Bus Specification, "Server Addresses"); nil for the address in
    ///   `DBUS_SYSTEM_BUS_ADDRESS` or else the system bus.
    /// - Throws: an error with the reason why there is no bus, and a remedy.
    init(address: String? = nil) throws(RadioError) {
        let functions = try BusLibrary.open()
        do throws(BusError) {
            bus = try Self.open(address, functions.pointee)
        } catch {
            throw Self.refusal(error)
        }
        self.functions = functions
    }

    private static func open(
        _ address: String?, _ functions: beacon_bus_functions
    ) throws(BusError) -> OpaquePointer {
        var bus: OpaquePointer?
        guard let address else {
            try functions.open_system(&bus).checked()
            guard let bus else { throw BusError("", "no connection could be made") }
            return bus
        }
        try functions.new(&bus).checked()
        guard let bus else { throw BusError("", "no connection could be made") }
        do throws(BusError) {
            try functions.set_address(bus, address).checked()
            try functions.set_bus_client(bus, 1).checked()
            try functions.start(bus).checked()
        } catch {
            _ = functions.close_unref(bus)
            throw error
        }
        return bus
    }

    deinit { _ = functions.pointee.close_unref(bus) }

    /// Returns the error for a bus that is not available for this reason.
    static func refusal(_ error: BusError) -> RadioError {
        if error.isDenial {
            return RadioError(
                .notPermitted,
                "the system bus denies this user access: \(error). In a container, pass the socket "
                    + "/run/dbus/system_bus_socket and run as a user that the host knows.")
        }
        return RadioError(
            .unsupported,
            "there is no system bus, which BlueZ needs: \(error). Start it (systemctl start dbus); in a container, "
                + "pass the socket /run/dbus/system_bus_socket; or use a raw HCI socket (hci:hci0).")
    }

    /// The descriptor to wait for.
    var descriptor: Int32 { functions.pointee.get_fd(bus) }

    /// The events to wait for on the descriptor, as flags of `poll`.
    var interest: Int16 { Int16(truncatingIfNeeded: max(0, functions.pointee.get_events(bus))) }

    /// Returns the latest time for the next call of ``process()``, by the radio's clock.
    func deadline(at now: Timestamp) -> Timestamp {
        var microseconds = UInt64.max
        // Microseconds of CLOCK_MONOTONIC, or the largest number for no time-out (sd_bus_get_timeout(3)).
        guard functions.pointee.get_timeout(bus, &microseconds) >= 0, microseconds < UInt64(Int64.max) / 1000 else {
            return .latest
        }
        var monotonic = timespec()
        clock_gettime(CLOCK_MONOTONIC, &monotonic)
        let passed = Int64(monotonic.tv_sec) * Timestamp.nanosecondsPerSecond + Int64(monotonic.tv_nsec)
        return now.advanced(by: max(0, Int64(microseconds) * 1000 - passed))
    }

    /// Performs one step without waiting: reads a message, or delivers one to its handler.
    ///
    /// - Returns: true if there may be more to do.
    /// - Throws: an error that makes the connection unusable.
    func process() throws(BusError) -> Bool { try functions.pointee.process(bus, nil).checked() > 0 }

    /// Waits until an event arrives or the deadline passes.
    func wait(until deadline: Timestamp) throws(BusError) {
        let nanoseconds = max(0, deadline.since(RadioClock.now()))
        try functions.pointee.wait(bus, UInt64(nanoseconds) / 1000 + 1).checked()
    }

    /// Waits until all queued messages are sent.
    func flush() throws(BusError) { try functions.pointee.flush(bus).checked() }

    /// Calls a method without waiting for the answer.
    ///
    /// - Parameters:
    ///   - seconds: how long to wait for the answer. The library's default of 25 s is longer than people wait.
    ///   - arguments: appends the arguments.
    ///   - answer: receives the answer or the error, unless the slot is deallocated before.
    func call(
        _ destination: String, _ path: String, _ interface: String, _ method: String, within seconds: UInt64 = 10,
        arguments: (BusMessage) throws(BusError) -> Void = { _ throws(BusError) in },
        answer: @escaping (Result<BusMessage, BusError>) -> Void
    ) throws(BusError) -> BusSlot {
        var made: OpaquePointer?
        try functions.pointee.message_new_method_call(bus, &made, destination, path, interface, method).checked()
        guard let made else { throw BusError("", "no message could be made") }
        let message = BusMessage(taking: made, functions)
        try arguments(message)
        return try BusSlot(on: self) { reply in
            answer(reply.error.map { .failure($0) } ?? .success(reply))
            return true
        } register: { slot, handler, context in
            functions.pointee.call_async(bus, &slot, made, handler, context, seconds * 1_000_000)
        }
    }

    /// Subscribes to the signals that match a rule (D-Bus Specification, "Match Rules").
    func listen(_ rule: String, _ handler: @escaping (BusMessage) -> Void) throws(BusError) -> BusSlot {
        try BusSlot(on: self) { signal in
            handler(signal)
            // The signal may match other rules, too.
            return false
        } register: { slot, handler, context in
            functions.pointee.add_match_async(bus, &slot, rule, handler, nil, context)
        }
    }

    /// Registers an object: the handler receives all calls to it and must answer each.
    func offer(_ path: String, _ handler: @escaping (BusMessage) -> Void) throws(BusError) -> BusSlot {
        try BusSlot(on: self) { call in
            handler(call)
            return true
        } register: { slot, handler, context in
            functions.pointee.add_object(bus, &slot, path, handler, context)
        }
    }

    /// Sends a signal to all subscribers.
    func signal(
        _ path: String, _ interface: String, _ member: String, arguments: (BusMessage) throws(BusError) -> Void
    ) throws(BusError) {
        var made: OpaquePointer?
        try functions.pointee.message_new_signal(bus, &made, path, interface, member).checked()
        guard let made else { throw BusError("", "no message could be made") }
        let message = BusMessage(taking: made, functions)
        try arguments(message)
        try message.send()
    }
}

/// A registration for callbacks of the bus: a pending answer, a subscription to signals, or an object. It ends when
/// this instance is deallocated.
final class BusSlot {
    private let bus: SystemBus
    private let handler: (BusMessage) -> Bool
    private var slot: OpaquePointer?

    /// Registers a handler by `register`, one of the library's functions, which receives a callback and its context.
    ///
    /// - Parameter handler: called with each message; returns true if no other handler needs it.
    init(
        on bus: SystemBus, _ handler: @escaping (BusMessage) -> Bool,
        register: (inout OpaquePointer?, beacon_bus_handler, UnsafeMutableRawPointer) -> Int32
    ) throws(BusError) {
        self.bus = bus
        self.handler = handler
        // The library keeps this pointer to the slot until slot_unref, which deinit calls before the memory is freed.
        // No callback follows after that (sd_bus_slot_unref(3)), so the pointer is valid whenever the callback runs.
        // The callback's reference keeps the slot alive while the handler runs, even if the handler drops the last
        // other reference.
        let context = Unmanaged.passUnretained(self).toOpaque()
        try register(
            &slot,
            { message, context, _ in
                guard let context else { return 0 }
                let slot = Unmanaged<BusSlot>.fromOpaque(context).takeUnretainedValue()
                return slot.handler(BusMessage(keeping: message, slot.bus.functions)) ? 1 : 0
            }, context
        ).checked()
    }

    deinit { _ = bus.functions.pointee.slot_unref(slot) }
}

/// The functions of libsystemd for message buses.
enum BusLibrary {
    /// Opens the library if it is not open yet.
    ///
    /// - Throws: an error that names the missing library and its package.
    static func open() throws(RadioError) -> UnsafePointer<beacon_bus_functions> {
        var problem: UnsafePointer<CChar>?
        guard let functions = beacon_bus_load(&problem) else {
            let reason = problem.map { String(cString: $0) } ?? "no reason given"
            throw RadioError(
                .unsupported,
                "the library for the connection to BlueZ cannot be opened: \(reason). Install it (Debian: "
                    + "apt-get install libsystemd0), or use a raw HCI socket (hci:hci0).")
        }
        return functions
    }
}
