import CSystemBus

/// Something that the bus calls back for: an answer that is awaited, a signal that is listened to, an object that is
/// offered. It ends when nobody keeps it any more.
final class BusSlot {
    private let bus: SystemBus
    private let handler: (BusMessage) -> Bool
    private var slot: OpaquePointer?

    /// Registers a handler by `register`, one of the library's functions, which gets what to call and with what.
    ///
    /// - Parameter handler: gets each message, and says whether nobody else need look at it.
    init(
        on bus: SystemBus, _ handler: @escaping (BusMessage) -> Bool,
        register: (inout OpaquePointer?, beacon_bus_handler, UnsafeMutableRawPointer) -> Int32
    ) throws(BusError) {
        self.bus = bus
        self.handler = handler
        // The library keeps this pointer to the slot until slot_unref, which deinit calls before the memory goes; no
        // callback comes after that (sd_bus_slot_unref(3)). So whenever the callback runs the pointer is good, and what it
        // makes of it keeps the slot while the handler runs, even where that drops the last other reference.
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
