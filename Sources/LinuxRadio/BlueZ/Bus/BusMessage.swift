import CSystemBus

/// A message of the bus, for as long as it is kept.
///
/// Reading goes on where it stopped; what is appended comes behind what is there. The two are in files of their own.
final class BusMessage {
    let functions: UnsafePointer<beacon_bus_functions>
    let message: OpaquePointer

    /// Keeps a message that somebody else holds too.
    init(keeping message: OpaquePointer, _ functions: UnsafePointer<beacon_bus_functions>) {
        self.functions = functions
        self.message = functions.pointee.message_ref(message)
    }

    /// Takes over a message that was just made.
    init(taking message: OpaquePointer, _ functions: UnsafePointer<beacon_bus_functions>) {
        self.functions = functions
        self.message = message
    }

    deinit { _ = functions.pointee.message_unref(message) }

    /// The object that it is about.
    var path: String { functions.pointee.message_get_path(message).map { String(cString: $0) } ?? "" }

    /// The interface that the member belongs to.
    var interface: String { functions.pointee.message_get_interface(message).map { String(cString: $0) } ?? "" }

    /// The method that is called, or the signal.
    var member: String { functions.pointee.message_get_member(message).map { String(cString: $0) } ?? "" }

    /// The unique name of whoever sent it.
    var sender: String { functions.pointee.message_get_sender(message).map { String(cString: $0) } ?? "" }

    /// The error that it is, if it is one.
    var error: BusError? { functions.pointee.message_get_error(message).map { BusError($0.pointee) } }

    /// An empty answer to this call.
    func makeAnswer() throws(BusError) -> BusMessage {
        var answer: OpaquePointer?
        try functions.pointee.message_new_method_return(message, &answer).checked()
        guard let answer else { throw BusError("", "no answer could be made") }
        return BusMessage(taking: answer, functions)
    }

    /// A refusal of this call.
    func makeRefusal(_ error: BusError) throws(BusError) -> BusMessage {
        // A bus cuts off whoever sends an error without a proper name. What could not be read has none.
        let isNamed = error.name.contains(".") && error.number == nil
        var answer: OpaquePointer?
        let status = (isNamed ? error.name : "org.freedesktop.DBus.Error.InvalidArgs").withCString { name in
            error.message.withCString { text in
                var reason = sd_bus_error(name: name, message: text, needs_free: 0)
                return functions.pointee.message_new_method_error(message, &answer, &reason)
            }
        }
        try status.checked()
        guard let answer else { throw BusError("", "no answer could be made") }
        return BusMessage(taking: answer, functions)
    }

    /// Sends it to where it was made for.
    func send() throws(BusError) {
        try functions.pointee.send(nil, message, nil).checked()
    }
}
